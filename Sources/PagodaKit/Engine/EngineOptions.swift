// EngineOptions: options that are fixed when an engine is loaded.
internal import CxxCore

/// Options of an engine. The defaults suit a single user on one machine.
///
/// ```swift
/// let options = EngineOptions(quantize: .fourBit, kvDType: .int8, maximumModelLength: 32_768)
/// let engine = try await Engine.load(.folder(path: "Models/Qwen3.5-4B"), options: options)
/// ```
public struct EngineOptions: Hashable, Sendable {
  /// The device that runs the model.
  public var device = Device.automatic
  /// Number format of weights; nil means the model's own.
  public var dtype: WeightFormat?
  /// The format of the weights in memory.
  public var quantize = Quantization.automatic
  /// Number format of the KV cache; nil means that of the weights.
  public var kvDType: CacheFormat?
  /// RoPE scaling for a longer context; nil means the model's own setting.
  public var ropeScaling: RopeScaling?
  /// Whether weights that are quantised or rearranged while they load are kept in a file, so that the next load reads
  /// that file. Answers are the same either way.
  public var weightCache = true
  /// The folder of these files; nil means `weights` in the user's cache folder, for models of which at least 256 MiB are
  /// rearranged.
  public var weightCacheFolder: String?
  /// Maximum total size of the files in the folder; nil means 64 GiB, and without `weightCacheFolder` also at most a
  /// quarter of the disk's free space. The least recently used files are removed first.
  public var weightCacheDiskBytes: Int64?
  /// Memory in bytes for the experts of mixtures, which are then read from the model's files when a step needs them; nil means
  /// all experts, or on the CPU, if the model does not fit, what the rest of it leaves. Answers are bit-identical. Only
  /// the CPU can read experts during a step.
  public var expertMemoryBytes: Int64?
  /// Worker threads; nil means one per core.
  public var threadCount: Int?
  /// Maximum number of running sequences; further requests wait. 0 means 16; on a GPU with dedicated memory that drives
  /// no screen, it means as many as the memory can serve, up to 256.
  public var maximumSequences = 16
  /// Maximum tokens per step, prompts and answers together; nil means 256 on a CPU, 512 with Metal and 2048 with CUDA.
  public var maximumBatchedTokens: Int?
  /// Maximum milliseconds of a step that processes prompt tokens while answers are running; nil means about twice the
  /// time of a step without prompt tokens, `.infinity` means no limit.
  public var maximumStepMilliseconds: Double?
  /// Tokens per KV block: 8, 16 or 32.
  public var blockSize = 16
  /// Whether the vision tower of a model that has one is loaded, so that messages may have images. Without it a model
  /// takes less memory.
  public var vision = true
  /// The file with the vision tower of a GGUF model (`mmproj-F16.gguf`); nil means the one beside the model.
  public var visionFile: String?
  /// Maximum tokens of one image; larger images are made smaller. Nil means 4096. The memory of the vision tower grows
  /// with it.
  public var maximumImageTokens: Int?
  /// Maximum bytes of the vision tower's results that are kept for later prompts with the same images; nil means
  /// 256 MiB, 0 means none.
  public var imageCacheBytes: Int64?
  /// Longest sequence in tokens; nil means the model's context length, or as much of it as fits.
  public var maximumModelLength: Int?
  /// KV blocks to allocate; nil means as many as `kvCacheBytes` allows.
  public var kvBlockCount: Int64?
  /// Memory for the KV cache in bytes; nil means one full context per sequence, at most a share of the device.
  public var kvCacheBytes: Int64?
  /// Whether results computed for one request are reused by others with the same prefix. Answers are the same either
  /// way.
  public var prefixCache = true
  /// Memory in bytes for recurrent states kept by the prefix cache; nil means 32 states, at most a share of the device.
  public var checkpointBytes: Int64?
  /// Maximum bytes of host memory for prefixes that do not fit in the device's caches; nil means none. For devices with
  /// dedicated memory; on others, a larger `kvCacheBytes` is the better choice.
  public var hostCacheBytes: Int64?
  /// A folder where prefixes are kept across restarts; nil means none. Only this user can read its files.
  public var prefixCacheFolder: String?
  /// Maximum total size of the files in `prefixCacheFolder`; nil means 8 GiB.
  public var prefixCacheDiskBytes: Int64?
  /// Whether prefix files are tied to the whole content of the model's files instead of modification times and a sample,
  /// so that machines can share them. Loading then reads every file of the model twice.
  public var sharesPrefixes = false

  /// Whether ``ModelInfo/fingerprint`` is computed when the engine loads; costs one step of 20 tokens.
  public var makesFingerprint = false
  /// Whether and how tokens are drafted and verified several at a time. Answers are bit-identical either way.
  public var speculation = Speculation.automatic
  /// Maximum tokens drafted per step, 1 to 15; nil means 15. Models with recurrent layers use at most 7.
  public var maximumDrafts: Int?

  /// LoRA adapters that requests can choose by name; see ``Request/lora``.
  public var loras: [LoraAdapter] = []
  /// Memory in bytes for all LoRA adapters; nil means exactly what `loras` take. More lets ``Engine/loadLora(_:)`` load
  /// others later.
  public var loraBytes: Int64?

  /// Stages on other machines that run the later layers of the model, in order; nil means this machine alone.
  public var pipeline: Pipeline?
  /// Layers of each stage, this machine first; nil means by speed and memory.
  public var pipelineSplit: [Int]?
  /// Seconds of silence after which a stage counts as lost; nil means 4.
  public var pipelineTimeout: Double?

  /// What errors call the options.
  package var fieldNames = FieldNames.properties

  /// Options; those not given have their defaults.
  public init(
    device: Device = .automatic, dtype: WeightFormat? = nil, quantize: Quantization = .automatic,
    kvDType: CacheFormat? = nil, ropeScaling: RopeScaling? = nil, weightCacheFolder: String? = nil,
    weightCacheDiskBytes: Int64? = nil, threadCount: Int? = nil, maximumSequences: Int = 16,
    maximumBatchedTokens: Int? = nil, maximumStepMilliseconds: Double? = nil, blockSize: Int = 16,
    vision: Bool = true, visionFile: String? = nil, maximumImageTokens: Int? = nil, imageCacheBytes: Int64? = nil,
    maximumModelLength: Int? = nil, kvBlockCount: Int64? = nil, kvCacheBytes: Int64? = nil, prefixCache: Bool = true,
    checkpointBytes: Int64? = nil, hostCacheBytes: Int64? = nil, prefixCacheFolder: String? = nil,
    prefixCacheDiskBytes: Int64? = nil, sharesPrefixes: Bool = false, makesFingerprint: Bool = false,
    speculation: Speculation = .automatic, maximumDrafts: Int? = nil, pipeline: Pipeline? = nil,
    pipelineSplit: [Int]? = nil, pipelineTimeout: Double? = nil
  ) {
    self.device = device
    self.dtype = dtype
    self.quantize = quantize
    self.kvDType = kvDType
    self.ropeScaling = ropeScaling
    self.weightCacheFolder = weightCacheFolder
    self.weightCacheDiskBytes = weightCacheDiskBytes
    self.threadCount = threadCount
    self.maximumSequences = maximumSequences
    self.maximumBatchedTokens = maximumBatchedTokens
    self.maximumStepMilliseconds = maximumStepMilliseconds
    self.blockSize = blockSize
    self.vision = vision
    self.visionFile = visionFile
    self.maximumImageTokens = maximumImageTokens
    self.imageCacheBytes = imageCacheBytes
    self.maximumModelLength = maximumModelLength
    self.kvBlockCount = kvBlockCount
    self.kvCacheBytes = kvCacheBytes
    self.prefixCache = prefixCache
    self.checkpointBytes = checkpointBytes
    self.hostCacheBytes = hostCacheBytes
    self.prefixCacheFolder = prefixCacheFolder
    self.prefixCacheDiskBytes = prefixCacheDiskBytes
    self.sharesPrefixes = sharesPrefixes
    self.makesFingerprint = makesFingerprint
    self.speculation = speculation
    self.maximumDrafts = maximumDrafts
    self.pipeline = pipeline
    self.pipelineSplit = pipelineSplit
    self.pipelineTimeout = pipelineTimeout
  }
}

extension EngineOptions {
  /// The options in the core's form, in which 0 means the core's choice; a 0 given here is an error.
  func core() throws -> pagoda.EngineOptions {
    var options = pagoda.EngineOptions()
    options.device = std.string(device.description)
    options.dtype = std.string(dtype?.rawValue ?? "auto")
    options.quantize = std.string(quantize.rawValue)
    options.kv_dtype = std.string(kvDType?.rawValue ?? "auto")
    options.rope_scaling = std.string(ropeScaling?.description ?? "")
    options.keep_weights = weightCache
    options.weight_cache = std.string(weightCacheFolder ?? "")
    options.weight_cache_disk_bytes = try chosen(weightCacheDiskBytes, "weight_cache_disk_bytes")
    options.expert_memory_bytes = try chosen(expertMemoryBytes, "expert_memory_bytes")
    options.num_threads = try chosen(threadCount, "num_threads")
    options.max_num_seqs = Int32(clamping: maximumSequences)
    options.max_num_batched_tokens = try chosen(maximumBatchedTokens, "max_num_batched_tokens")
    if let time = maximumStepMilliseconds {
      guard time > 0 else { throw notPositive("max_step_ms", time) }
      options.max_step_ms = time == .infinity ? -1 : time
    }
    options.block_size = Int32(clamping: blockSize)
    options.vision = vision
    options.vision_file = std.string(visionFile ?? "")
    if maximumImageTokens != nil {
      options.max_image_tokens = try chosen(maximumImageTokens, "max_image_tokens")
    }
    if let bytes = imageCacheBytes { options.image_cache_bytes = bytes }
    options.max_model_len = try chosen(maximumModelLength, "max_model_len")
    options.num_kv_blocks = try chosen(kvBlockCount, "num_kv_blocks")
    options.kv_cache_bytes = try chosen(kvCacheBytes, "kv_cache_bytes")
    options.prefix_cache = prefixCache
    options.checkpoint_bytes = try chosen(checkpointBytes, "checkpoint_bytes")
    options.host_cache_bytes = try chosen(hostCacheBytes, "host_cache_bytes")
    options.prefix_cache_dir = std.string(prefixCacheFolder ?? "")
    options.prefix_cache_disk_bytes = try chosen(prefixCacheDiskBytes, "prefix_cache_disk_bytes")
    options.identify_content = sharesPrefixes
    options.speculation = std.string(speculation.rawValue)
    options.identify = makesFingerprint
    options.max_drafts = try chosen(maximumDrafts, "max_drafts")
    for adapter in loras { options.loras.push_back(adapter.core) }
    options.lora_bytes = try chosen(loraBytes, "lora_bytes")
    options.pipeline = std.string(pipeline?.description ?? "")
    options.pipeline_split = std.string((pipelineSplit ?? []).map(String.init).joined(separator: ","))
    if let seconds = pipelineTimeout {
      guard seconds > 0 else { throw notPositive("pipeline_timeout_ms", seconds) }
      options.pipeline_timeout_ms = Int32(clamping: Int64(min(seconds, 1e6) * 1000))
    }
    return options
  }

  private func chosen<Value: FixedWidthInteger, Result: FixedWidthInteger>(
    _ value: Value?, _ field: String
  ) throws -> Result {
    guard let value else { return 0 }
    guard value > 0 else { throw notPositive(field, value) }
    return Result(clamping: value)
  }

  private func notPositive(_ field: String, _ value: some CustomStringConvertible) -> PagodaError {
    .invalidArgument("\(fieldNames[field]) is \(value); it must be above 0, or nil for the default")
  }
}
