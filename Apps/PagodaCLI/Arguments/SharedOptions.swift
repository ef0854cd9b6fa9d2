// Options that several commands share, and their conversion to engine options.
import Foundation
import PagodaHub
import PagodaKit

enum SharedOptions {
  static let model = Option(
    "model", short: "m", value: "MODEL", help: "a folder or .gguf file, ORG/NAME, qwen3.5:4b, or mini (default)")
  static let shape = Option(
    "shape", value: "NAME",
    help: "a synthetic model with random weights and the sizes of a real one, such as qwen3.5-0.8b")
  static let prompts = Option(
    "prompts", value: "FILE", help: "texts to continue, one per line: text, or JSON with prompt and kind")
  static let system = Option("system", value: "TEXT", help: "instructions for the conversation (the system prompt)")
  static let thinking = [
    Option("think", help: "let the model think before it answers"),
    Option("no-think", help: "turn thinking off"),
  ]
  static let sampling = OptionGroup("Sampling", SamplingField.all.map(\.option))
  static let pipelineTimeout = Option(
    "pipeline-timeout", value: "SECONDS", help: "how long a stage may be silent before it counts as lost (default 4)")
  static let pipeline = OptionGroup(
    "One model over several machines",
    [
      Option("pipeline", help: "use the ranks that mpirun started: the first serves, the others run layers"),
      Option("pipeline-stages", value: "ADDRESSES", help: "`pagoda stage` on other machines: host:port,host:port"),
      Option("pipeline-split", value: "COUNTS", help: "layers per stage, this machine first (default: by speed)"),
      pipelineTimeout,
    ])
  static let engine = OptionGroup(
    "Engine",
    [
      Option("device", value: "NAME", help: "auto (default), cpu, metal, cuda, software (GPU kernels) or reference"),
      Option("dtype", value: "NAME", help: "weights: auto (default), float32, float16, bfloat16"),
      Option(
        "quantize", value: "FORM",
        help: "weights: auto (default: as in the file), none (use --dtype), bf16, 8bit or 4bit"),
      Option("kv-dtype", value: "NAME", help: "KV cache: auto (default, as --dtype), float32, float16, bfloat16, int8"),
      Option(
        "rope-scaling", value: "RULE",
        help: "longer context: none, or linear, dynamic or yarn with a factor: yarn:4, yarn:4:32768 (trained context)"),
      Option(
        "weight-cache", value: "DIR",
        help: "cache repacked weights in this folder (default: ~/.cache/pagoda/weights, for models that gain from it)"),
      Option(
        "weight-cache-disk", value: "SIZE",
        help: "maximum size of that folder (default 64GiB, in the default folder also a quarter of the free disk)"),
      Option("no-weight-cache", help: "repack weights at every start"),
      Option(
        "expert-memory", value: "SIZE",
        help: "memory for experts, read from the files when needed (CPU; default: all, or what is left if too little)"),
      Option("threads", short: "t", value: "N", help: "worker threads (default: one per usable core)"),
      Option(
        "max-num-seqs", value: "N",
        help: "maximum number of running sequences (default 16, on a GPU with memory of its own up to 256)"),
      Option("max-num-batched-tokens", value: "N", help: "maximum tokens per step (default 256; metal 512, cuda 2048)"),
      Option(
        "max-step-ms", value: "N",
        help: "maximum time of a step while answers are running (default: twice a plain step; -1: no limit)"),
      Option(
        "max-model-len", short: "c", value: "N", help: "longest sequence in tokens (default: the model's, if it fits)"),
      Option("block-size", value: "N", help: "tokens per KV block: 8, 16 (default) or 32"),
      Option("num-kv-blocks", value: "N", help: "KV blocks to allocate"),
      Option("kv-cache-memory", value: "SIZE", help: "memory for the KV cache: 512MiB, 2GB or bytes"),
      Option("no-prefix-cache", help: "compute every prompt from its first token"),
      Option("checkpoint-memory", value: "SIZE", help: "memory for recurrent states of prefixes (default: 32 states)"),
      Option(
        "host-cache-memory", value: "SIZE",
        help: "host memory for prefixes that do not fit on the device (default: none)"),
      Option(
        "lora", value: "NAME=DIR",
        help: "a LoRA adapter of peft or mlx-lm, which requests choose by name; may be given several times"),
      Option("lora-memory", value: "SIZE", help: "memory for all LoRA adapters (default: what --lora needs)"),
      Option("prefix-cache-dir", value: "DIR", help: "keep prefixes in this folder across restarts"),
      Option("prefix-cache-disk", value: "SIZE", help: "maximum size of that folder (default 8GiB)"),
      Option("no-vision", help: "leave the model's vision tower out: less memory, and no images"),
      Option("mmproj", value: "FILE", help: "the vision tower of a GGUF model (default: mmproj*.gguf beside it)"),
      Option("max-image-tokens", value: "N", help: "maximum tokens of one image; larger ones shrink (default 4096)"),
      Option(
        "image-cache-memory", value: "SIZE", help: "memory for results of the vision tower (default 256MiB; 0: none)"),
      Option("speculate", value: "HOW", help: "speculative decoding, same answers: auto (default), off, mtp, lookup"),
      Option(
        "speculate-max", value: "N",
        help: "maximum tokens drafted per step, 1 to 15 (default 15; at most 7 with recurrent layers)"),
    ])
}

extension Arguments {
  func modelSource() throws -> ModelSource {
    if let shape = string("shape") {
      if has("model") { throw UsageError("--shape and --model exclude each other") }
      return .shape(shape)
    }
    return try namedModel(string("model") ?? "mini")
  }

  var modelName: String { string("shape") ?? string("model") ?? "mini" }

  /// The last part of the name, without a revision.
  var modelFileName: String {
    let name = URL(filePath: modelName).lastPathComponent
    return ModelName(modelName) == nil ? name : String(name.prefix { $0 != "@" })
  }

  func engineOptions() throws -> EngineOptions {
    let counts = Int64(1)...Int64(Int32.max)
    var options = EngineOptions()
    options.fieldNames = .flags
    if let name = string("device") {
      guard let device = EngineOptions.Device(name) else {
        throw UsageError("--device is '\(name)'; it must be one of auto, cpu, metal, cuda, software, reference")
      }
      options.device = device
    }
    options.dtype = try choice("dtype", orAutomatic: EngineOptions.WeightFormat.self)
    options.quantize = try choice("quantize") ?? options.quantize
    options.kvDType = try choice("kv-dtype", orAutomatic: EngineOptions.CacheFormat.self)
    if let name = string("rope-scaling") {
      guard let rule = EngineOptions.RopeScaling(name) else {
        throw UsageError("--rope-scaling is '\(name)'; it must be none or a rule such as linear:2, dynamic:2, yarn:4")
      }
      options.ropeScaling = rule
    }
    options.weightCache = !has("no-weight-cache")
    if let folder = try folder("weight-cache") {
      if !options.weightCache { throw UsageError("--weight-cache and --no-weight-cache exclude each other") }
      options.weightCacheFolder = folder
    }
    if let bytes = try bytes("weight-cache-disk") { options.weightCacheDiskBytes = bytes }
    if let bytes = try bytes("expert-memory") { options.expertMemoryBytes = bytes }
    if let count = try integer("threads", in: 1...1024) { options.threadCount = Int(count) }
    options.maximumSequences = Int(try integer("max-num-seqs", in: counts) ?? 0)  // 0: what the device can serve
    if let count = try integer("max-num-batched-tokens", in: counts) { options.maximumBatchedTokens = Int(count) }
    if let time = try integer("max-step-ms", in: -1...1_000_000) {
      options.maximumStepMilliseconds = time < 0 ? .infinity : time == 0 ? nil : Double(time)
    }
    if let length = try integer("max-model-len", in: counts) { options.maximumModelLength = Int(length) }
    if let size = try choice("block-size", of: ["8", "16", "32"]) { options.blockSize = Int(size) ?? 16 }
    if let count = try integer("num-kv-blocks", in: 1...Int64.max) { options.kvBlockCount = count }
    if let bytes = try bytes("kv-cache-memory") { options.kvCacheBytes = bytes }
    options.prefixCache = !has("no-prefix-cache")
    if let bytes = try bytes("checkpoint-memory") { options.checkpointBytes = bytes }
    if let bytes = try bytes("host-cache-memory") { options.hostCacheBytes = bytes }
    options.loras = try loras()
    if let bytes = try bytes("lora-memory") { options.loraBytes = bytes }
    if let folder = try folder("prefix-cache-dir") { options.prefixCacheFolder = folder }
    if let bytes = try bytes("prefix-cache-disk") { options.prefixCacheDiskBytes = bytes }
    options.vision = !has("no-vision")
    if let file = try folder("mmproj") { options.visionFile = file }
    if let count = try integer("max-image-tokens", in: counts) { options.maximumImageTokens = Int(count) }
    if let bytes = try bytes("image-cache-memory", atLeast: 0) { options.imageCacheBytes = bytes }
    options.speculation = try choice("speculate") ?? options.speculation
    if let count = try integer("speculate-max", in: 1...15) { options.maximumDrafts = Int(count) }
    try readPipeline(into: &options)
    return options
  }

  /// `NAME=DIR`, or a folder alone, whose last part is the name.
  func loras() throws -> [LoraAdapter] {
    try (values["lora"] ?? []).map { text in
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      let folder = parts.last ?? ""
      let name = parts.count == 2 ? parts[0] : folder.split(separator: "/").last.map(String.init) ?? ""
      if name.isEmpty || folder.isEmpty { throw UsageError("--lora is '\(text)'; it must be NAME=DIR") }
      return LoraAdapter(name: name, folder: folder)
    }
  }

  private func readPipeline(into options: inout EngineOptions) throws {
    if has("pipeline") && has("pipeline-stages") {
      throw UsageError("--pipeline and --pipeline-stages exclude each other")
    }
    if has("pipeline") { options.pipeline = .mpi }
    if let stages = string("pipeline-stages") {
      options.pipeline = .stages(stages.split(separator: ",").map(String.init))
    }
    if let split = string("pipeline-split") {
      options.pipelineSplit = try split.split(separator: ",", omittingEmptySubsequences: false).map {
        guard let count = Int($0), count > 0 else {
          throw UsageError("--pipeline-split must be numbers, such as 12,12")
        }
        return count
      }
    }
    options.pipelineTimeout = try integer("pipeline-timeout", in: 1...3600).map(Double.init)
  }

  func folder(_ name: String) throws -> String? {
    guard let folder = string(name) else { return nil }
    if folder.isEmpty { throw UsageError("--\(name) needs a folder") }
    return NSString(string: folder).expandingTildeInPath
  }

  func samplingParameters() throws -> SamplingParameters {
    var sampling = SamplingParameters()
    for field in SamplingField.all { try field.apply(self, to: &sampling) }
    return sampling
  }

  /// Nil when neither option is given.
  func thinking() throws -> Bool? {
    if has("think") && has("no-think") { throw UsageError("--think and --no-think exclude each other") }
    return has("think") ? true : has("no-think") ? false : nil
  }
}
