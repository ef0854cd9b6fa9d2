// EngineOptions: what an engine is made for, fixed when it loads.
internal import CxxCore

/// Options of an engine. The default values suit one person on one machine.
public struct EngineOptions: Hashable, Sendable {
  /// The device that computes.
  public var device = Device.automatic
  /// Number format of weights; nil means the model's own.
  public var dtype: WeightFormat?
  /// Form of the weights.
  public var quantize = Quantization.automatic
  /// Number format of the KV cache; nil means that of the weights.
  public var kvDType: CacheFormat?
  /// How rotations are scaled for a longer context; nil means as the model says.
  public var ropeScaling: RopeScaling?
  /// A folder that keeps the weights as the device wants them, so that the next load maps them; nil means none.
  public var weightCacheFolder: String?
  /// Most bytes of files in `weightCacheFolder`; nil means 64 GiB. Beyond, those not used for longest are removed.
  public var weightCacheDiskBytes: Int64?
  /// Worker threads; nil means one per core.
  public var threadCount: Int?
  /// Most sequences that run at once; further requests wait.
  public var maximumSequences = 16
  /// Most tokens of one step, prompts and answers together; nil means 256 on a CPU, 512 with Metal and 2048 with CUDA.
  public var maximumBatchedTokens: Int?
  /// Most milliseconds of a step in which answers wait for their next token while prompts are read; nil means about twice
  /// a step in which nothing is read, `.infinity` as long as it takes.
  public var maximumStepMilliseconds: Double?
  /// Tokens per KV block: 8, 16 or 32.
  public var blockSize = 16
  /// Longest sequence in tokens; nil means the model's context length, or as much of it as fits.
  public var maximumModelLength: Int?
  /// KV blocks to allocate; nil means as many as `kvCacheBytes` allows.
  public var kvBlockCount: Int64?
  /// Memory for the KV cache in bytes; nil means one full context per sequence, at most a share of the device.
  public var kvCacheBytes: Int64?
  /// Whether what was computed for one request is reused by others that begin the same. Answers are the same either way.
  public var prefixCache = true
  /// Memory in bytes for recurrent states that the prefix cache keeps; nil means 32 of them, at most a share of the device.
  public var checkpointBytes: Int64?
  /// Most bytes of the host's memory for prefixes that the caches of the device cannot keep; nil means none. For devices with
  /// memory of their own; elsewhere a larger `kvCacheBytes` serves better.
  public var hostCacheBytes: Int64?
  /// A folder where prefixes outlive the engine; nil means none. Only this user can read its files.
  public var prefixCacheFolder: String?
  /// Most bytes of files in `prefixCacheFolder`; nil means 8 GiB.
  public var prefixCacheDiskBytes: Int64?
  /// Tells prefix files of different models apart by the whole content of the model's files instead of their times and a
  /// sample: for prefixes that several machines share. Loading reads every file once more.
  public var sharesPrefixes = false

  /// Whether ``ModelInfo/fingerprint`` is filled when the engine loads; costs a step of 20 tokens.
  public var makesFingerprint = false
  /// Whether several tokens are drafted and verified at once, and from what. Answers are the same to the bit either way.
  public var speculation = Speculation.automatic
  /// Most tokens drafted in a step, 1 to 15; nil means 15. Models with recurrent layers take at most 7.
  public var maximumDrafts: Int?

  /// Stages on other machines that run the later layers of the model, in their order; nil means this machine alone.
  public var pipeline: Pipeline?
  /// Layers of each stage, this machine's first; nil means by speed and memory.
  public var pipelineSplit: [Int]?
  /// Seconds without a sign of life after which a stage counts as lost; nil means 4.
  public var pipelineTimeout: Double?

  /// The default options.
  public init() {}
}

extension EngineOptions {
  /// As the core takes them, where 0 leaves a choice to it; a 0 given here is an error.
  func core() throws -> pagoda.EngineOptions {
    var options = pagoda.EngineOptions()
    options.device = std.string(device.description)
    options.dtype = std.string(dtype?.rawValue ?? "auto")
    options.quantize = std.string(quantize.rawValue)
    options.kv_dtype = std.string(kvDType?.rawValue ?? "auto")
    options.rope_scaling = std.string(ropeScaling?.description ?? "")
    options.weight_cache = std.string(weightCacheFolder ?? "")
    options.weight_cache_disk_bytes = try Self.chosen(weightCacheDiskBytes, "weightCacheDiskBytes")
    options.num_threads = try Self.chosen(threadCount, "threadCount")
    options.max_num_seqs = Int32(clamping: maximumSequences)
    options.max_num_batched_tokens = try Self.chosen(maximumBatchedTokens, "maximumBatchedTokens")
    if let time = maximumStepMilliseconds {
      guard time > 0 else { throw Self.notPositive("maximumStepMilliseconds", time) }
      options.max_step_ms = time == .infinity ? -1 : time
    }
    options.block_size = Int32(clamping: blockSize)
    options.max_model_len = try Self.chosen(maximumModelLength, "maximumModelLength")
    options.num_kv_blocks = try Self.chosen(kvBlockCount, "kvBlockCount")
    options.kv_cache_bytes = try Self.chosen(kvCacheBytes, "kvCacheBytes")
    options.prefix_cache = prefixCache
    options.checkpoint_bytes = try Self.chosen(checkpointBytes, "checkpointBytes")
    options.host_cache_bytes = try Self.chosen(hostCacheBytes, "hostCacheBytes")
    options.prefix_cache_dir = std.string(prefixCacheFolder ?? "")
    options.prefix_cache_disk_bytes = try Self.chosen(prefixCacheDiskBytes, "prefixCacheDiskBytes")
    options.identify_content = sharesPrefixes
    options.speculation = std.string(speculation.rawValue)
    options.identify = makesFingerprint
    options.max_drafts = try Self.chosen(maximumDrafts, "maximumDrafts")
    options.pipeline = std.string(pipeline?.description ?? "")
    options.pipeline_split = std.string((pipelineSplit ?? []).map(String.init).joined(separator: ","))
    if let seconds = pipelineTimeout {
      guard seconds > 0 else { throw Self.notPositive("pipelineTimeout", seconds) }
      options.pipeline_timeout_ms = Int32(clamping: Int64(min(seconds, 1e6) * 1000))
    }
    return options
  }

  private static func chosen<Value: FixedWidthInteger, Result: FixedWidthInteger>(
    _ value: Value?, _ name: String
  ) throws -> Result {
    guard let value else { return 0 }
    guard value > 0 else { throw notPositive(name, value) }
    return Result(clamping: value)
  }

  private static func notPositive(_ name: String, _ value: some CustomStringConvertible) -> PagodaError {
    .invalidArgument("\(name) is \(value); it must be above 0, or nil for the default")
  }
}
