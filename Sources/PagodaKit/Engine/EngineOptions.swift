// EngineOptions: what an engine is made for, fixed when it loads.
internal import CxxCore

/// What an engine is made for. The default values suit one person on one machine.
public struct EngineOptions: Hashable, Sendable {
  /// The device: `auto`, `cpu`, `software` (the GPU kernels, run and checked on the CPU: slow) or `reference` (slow,
  /// double precision, for comparisons).
  public var device = "auto"
  /// Number format of weights: `auto` (the model's own), `float32`, `float16` or `bfloat16`.
  public var dtype = "auto"
  /// Form of the weights: `auto` (quantised models in `8bit`, others as they are), `none` (as `dtype` says),
  /// `bf16`, `8bit` or `4bit`.
  public var quantize = "auto"
  /// Number format of the KV cache: `auto` (as `dtype`), `float32`, `float16`, `bfloat16` or `int8` (about half of 16 bit).
  public var kvDType = "auto"
  /// How rotations are scaled for a longer context: empty (as the model says), `none`, or `linear`, `dynamic` or `yarn` with
  /// a factor and perhaps the trained context: `yarn:4` or `yarn:4:32768`.
  public var ropeScaling = ""
  /// A folder that keeps the weights as the device wants them, so that the next load maps them; empty means none.
  public var weightCache = ""
  /// Worker threads; 0 means one per core.
  public var threadCount = 0
  /// Most sequences that run at once; further requests wait.
  public var maximumSequences = 16
  /// Most tokens of one step, prompts and answers together; 0 means 256 on a CPU, 512 with Metal and 2048 with CUDA.
  public var maximumBatchedTokens = 0
  /// Most milliseconds of a step in which answers wait for their next token while prompts are read; 0 means about twice a
  /// step in which nothing is read, -1 as long as it takes.
  public var maximumStepMilliseconds = 0.0
  /// Tokens per KV block: 8, 16 or 32.
  public var blockSize = 16
  /// Longest sequence in tokens; 0 means the model's context length, or as much of it as fits.
  public var maximumModelLength = 0
  /// KV blocks to allocate; 0 means as many as `kvCacheBytes` allows.
  public var kvBlockCount: Int64 = 0
  /// Memory for the KV cache in bytes; 0 means one full context per sequence, at most a share of the device.
  public var kvCacheBytes: Int64 = 0
  /// Whether what was computed for one request is reused by others that begin the same. Answers are the same either way.
  public var prefixCache = true
  /// Memory in bytes for recurrent states that the prefix cache keeps; 0 means 32 of them, at most a share of the device.
  public var checkpointBytes: Int64 = 0
  /// A folder where prefixes outlive the engine; empty means none. Only this user can read its files.
  public var prefixCacheFolder = ""
  /// Most bytes of files in `prefixCacheFolder`; 0 means 8 GiB.
  public var prefixCacheDiskBytes: Int64 = 0

  /// Whether several tokens are guessed and checked at once, and from what. Answers are the same to the bit either way.
  public var speculation = Speculation.automatic
  /// Most tokens guessed ahead in a step, 1 to 7; 0 means 7.
  public var maximumDrafts = 0

  /// Where guesses at the next tokens come from.
  public enum Speculation: String, CaseIterable, Hashable, Sendable {
    /// From the model's own head where it has one, and from the text so far; as many as pay.
    case automatic = "auto"
    /// No guesses: one token per step.
    case off
    /// From the model's own head for multi-token prediction only.
    case mtp
    /// From what stood before in the same text only.
    case lookup
  }

  /// Most bytes of files in `weightCache`; 0 means 64 GiB. Beyond, those not used for longest are removed.
  public var weightCacheDiskBytes: Int64 = 0

  /// The default options.
  public init() {}
}

extension EngineOptions {
  var core: pagoda.EngineOptions {
    var options = pagoda.EngineOptions()
    options.device = std.string(device)
    options.dtype = std.string(dtype)
    options.quantize = std.string(quantize)
    options.kv_dtype = std.string(kvDType)
    options.rope_scaling = std.string(ropeScaling)
    options.weight_cache = std.string(weightCache)
    options.num_threads = Int32(clamping: threadCount)
    options.max_num_seqs = Int32(clamping: maximumSequences)
    options.max_num_batched_tokens = Int32(clamping: maximumBatchedTokens)
    options.max_step_ms = maximumStepMilliseconds
    options.block_size = Int32(clamping: blockSize)
    options.max_model_len = Int32(clamping: maximumModelLength)
    options.num_kv_blocks = kvBlockCount
    options.kv_cache_bytes = kvCacheBytes
    options.prefix_cache = prefixCache
    options.checkpoint_bytes = checkpointBytes
    options.prefix_cache_dir = std.string(prefixCacheFolder)
    options.prefix_cache_disk_bytes = prefixCacheDiskBytes
    options.weight_cache_disk_bytes = weightCacheDiskBytes
    options.speculation = std.string(speculation.rawValue)
    options.max_drafts = Int32(clamping: maximumDrafts)
    return options
  }
}
