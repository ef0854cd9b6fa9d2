// Options that several commands share, and what they mean to the engine.
import Foundation
import PagodaKit

enum SharedOptions {
  static let model = Option(
    "model", short: "m", value: "DIR", help: "a model folder, or mini (default), the one inside")
  static let system = Option("system", value: "TEXT", help: "instructions above the conversation (the system prompt)")
  static let thinking = [
    Option("think", help: "let the model think before it answers"),
    Option("no-think", help: "do not let it"),
  ]
  static let sampling = OptionGroup("Sampling", SamplingField.all.map(\.option))
  static let engine = OptionGroup(
    "Engine",
    [
      Option("device", value: "NAME", help: "auto (default), cpu or reference"),
      Option("dtype", value: "NAME", help: "weights: auto (default), float32, float16, bfloat16"),
      Option("kv-dtype", value: "NAME", help: "KV cache: auto (default, as --dtype), float32, float16, bfloat16, int8"),
      Option("threads", value: "N", help: "worker threads (default: one per core)"),
      Option("max-num-seqs", value: "N", help: "sequences that run at once (default 16)"),
      Option("max-num-batched-tokens", value: "N", help: "tokens of one step (default 512)"),
      Option("max-model-len", value: "N", help: "longest sequence in tokens (default: the model's, if it fits)"),
      Option("block-size", value: "N", help: "tokens per KV block: 8, 16 (default) or 32"),
      Option("num-kv-blocks", value: "N", help: "KV blocks to allocate"),
      Option("kv-cache-memory", value: "SIZE", help: "memory for the KV cache: 512MiB, 2GB or bytes"),
    ])
}

extension Arguments {
  func modelSource() -> ModelSource {
    let name = string("model") ?? "mini"
    return name == "mini" ? .mini : .folder(path: NSString(string: name).expandingTildeInPath)
  }

  func engineOptions() throws -> EngineOptions {
    let counts = Int64(1)...Int64(Int32.max)
    var options = EngineOptions()
    if let device = string("device") { options.device = device }
    if let dtype = try choice("dtype", of: ["auto", "float32", "float16", "bfloat16"]) { options.dtype = dtype }
    if let dtype = try choice("kv-dtype", of: ["auto", "float32", "float16", "bfloat16", "int8"]) {
      options.kvDType = dtype
    }
    if let count = try integer("threads", in: 1...1024) { options.threadCount = Int(count) }
    if let count = try integer("max-num-seqs", in: counts) { options.maximumSequences = Int(count) }
    if let count = try integer("max-num-batched-tokens", in: counts) { options.maximumBatchedTokens = Int(count) }
    if let length = try integer("max-model-len", in: counts) { options.maximumModelLength = Int(length) }
    if let size = try choice("block-size", of: ["8", "16", "32"]) { options.blockSize = Int(size) ?? 16 }
    if let count = try integer("num-kv-blocks", in: 1...Int64.max) { options.kvBlockCount = count }
    if let bytes = try bytes("kv-cache-memory") { options.kvCacheBytes = bytes }
    return options
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

  /// Loads the model and shows how far it is.
  func loadEngine() async throws -> Engine {
    let options = try engineOptions()
    let progress = ProgressLine("loading \(string("model") ?? "mini")")
    defer { progress.clear() }
    return try await Engine.load(modelSource(), options: options) { progress.show($0) }
  }
}
