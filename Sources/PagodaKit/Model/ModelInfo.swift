// ModelInfo and MemoryPlan: a model's properties and its memory use.

/// A model's properties and its memory plan.
///
/// ```swift
/// let info = try await Engine.inspect(.folder(path: "Models/Qwen3.5-0.8B"))  // loads nothing
/// print(info.architecture, info.contextLength, info.plan.totalBytes)
/// ```
public struct ModelInfo: Hashable, Sendable {
  /// The architecture's name in `config.json`.
  public var architecture: String = ""
  /// The family, such as `qwen3_5` or `llama`.
  public var family: String = ""
  /// Total number of layers.
  public var layerCount: Int = 0
  /// Layers with full attention.
  public var attentionLayerCount: Int = 0
  /// Layers with a recurrent state.
  public var recurrentLayerCount: Int = 0
  /// Width of the hidden state.
  public var hiddenSize: Int = 0
  /// Number of token ids.
  public var vocabularySize: Int = 0
  /// Longest sequence that the model supports, in tokens.
  public var contextLength: Int = 0
  /// Number of parameters in use.
  public var parameterCount: Int64 = 0
  /// The matrices that each token is multiplied with; of experts, only those that it is routed to.
  public var layerMatrices = MatrixSum()
  /// The output matrix for the logits; only tokens whose successor is sampled are multiplied with it.
  public var headMatrix = MatrixSum()
  /// Number format of the weights in memory.
  public var weightDType: String = ""
  /// The formats of all matrices in memory, the one with the most bytes first.
  public var weightFormats: [WeightFormatSum] = []
  /// What the weights would take with `.automatic`, `.eightBit` and `.fourBit`, except in the format that they have.
  public var otherWeights: [OtherWeights] = []
  /// Number format of the KV cache.
  public var kvDType: String = ""
  /// Number format of recurrent states; nil if the model has none.
  public var stateDType: String?
  /// The device and its instruction set.
  public var device: String = ""
  /// The device's name on the command line, such as `cpu` or `metal`; never `auto`.
  public var deviceName: String = ""
  /// Whether the model has a tokenizer.
  public var hasTokenizer: Bool = false
  /// Whether the model has a chat template.
  public var hasChatTemplate: Bool = false
  /// Why the folder's chat template cannot be used; nil if it can, or if there is none.
  public var chatTemplateError: String?
  /// Tensors in the files that this engine does not use.
  public var skippedTensors: [String] = []
  /// What loading took; nil if nothing was loaded, as with `Engine.inspect`.
  public var load: LoadSummary?
  /// How loading used the weight cache, or why it could not; from `Engine.inspect`, how it would. Nil if the cache is not
  /// used. See ``EngineOptions/weightCache``.
  public var weightCacheNote: String?
  /// Token ids that end an answer.
  public var endOfTextTokens: [Int32] = []
  /// Whether messages may have images: the model has a vision tower that this engine runs.
  public var readsImages = false
  /// Why they may not; nil if they may.
  public var imageRefusal: String?
  /// Parameters of the vision tower.
  public var visionParameterCount: Int64 = 0
  /// Where the vision tower runs, which may be another device than the text's; nil without one.
  public var visionDevice: String?
  /// Maximum tokens of one image.
  public var maximumImageTokens = 0
  package var imageGeometry = ImageGeometry()
  /// A hash of the outputs for a few tokens, as this device and this version compute them: engines with equal
  /// fingerprints give bit-identical answers, on any machine. Nil without `EngineOptions.makesFingerprint`.
  public var fingerprint: String?
  /// The layers of each stage; nil for a model on one machine.
  public var pipeline: String?
  /// The memory plan.
  public var plan: MemoryPlan = MemoryPlan()

  /// All values zero or empty, for tests that set what they need.
  public init() {}
}

/// What loading a model took.
///
/// ```swift
/// let engine = try await Engine.load(.mini)
/// if let load = engine.info.load { print(load.weightsBytes, "bytes in", load.seconds, "s") }
/// ```
public struct LoadSummary: Hashable, Sendable {
  /// Bytes of the weights in memory; with ``EngineOptions/pipeline``, those on this machine.
  public var weightsBytes: Int64 = 0
  /// Seconds from the call until the engine was ready, without downloads.
  public var seconds: Double = 0

  /// All values zero, for tests that set what they need.
  public init() {}
}

/// The memory of an engine, computed before anything is allocated. Sizes are in bytes.
///
/// ```swift
/// let plan = try await ModelContainer(.mini).memoryEstimate()
/// print(plan.weightsBytes, plan.totalBytes, plan.deviceLimitBytes)
/// ```
public struct MemoryPlan: Hashable, Sendable {
  /// The device's memory limit.
  public var deviceLimitBytes: Int64 = 0
  /// The weights.
  public var weightsBytes: Int64 = 0
  /// The KV cache: `kvBlockCount * kvBlockBytes`.
  public var kvBytes: Int64 = 0
  /// The recurrent states: `stateSlotCount * stateSlotBytes`.
  public var stateBytes: Int64 = 0
  /// The recurrent states that the prefix cache may keep: `checkpointCount * stateSlotBytes`.
  public var checkpointBytes: Int64 = 0
  /// Activations, inputs of a step, and logits.
  public var workspaceBytes: Int64 = 0
  /// The vision tower, its activations and the cache of its results.
  public var visionBytes: Int64 = 0
  /// The part of `visionBytes` that is in host memory beside a device with dedicated memory, and not in `totalBytes`.
  public var visionHostBytes: Int64 = 0
  /// LoRA adapters; see `EngineOptions.loraBytes`.
  public var adapterBytes: Int64 = 0
  /// The part of `weightsBytes` for experts that are read from the files when steps need them; 0: all are in memory.
  /// See `EngineOptions.expertMemoryBytes`.
  public var expertMemoryBytes: Int64 = 0
  /// All experts of mixtures.
  public var expertBytes: Int64 = 0
  /// The experts that a token is multiplied with.
  public var expertTokenBytes: Int64 = 0
  /// Bytes of experts that a token would read from files if all experts were equally likely. Answers read fewer, because
  /// they use some experts more often than others.
  public var expertReadBytesPerToken: Int64 {
    guard expertMemoryBytes > 0, expertBytes > expertMemoryBytes else { return 0 }
    return Int64(Double(expertTokenBytes) * (1 - Double(expertMemoryBytes) / Double(expertBytes)))
  }
  /// Prefixes in host memory. Part of `totalBytes` if the device has no dedicated memory.
  public var hostCacheBytes: Int64 = 0
  /// One KV block.
  public var kvBlockBytes: Int64 = 0
  /// One recurrent state.
  public var stateSlotBytes: Int64 = 0
  /// KV blocks.
  public var kvBlockCount: Int64 = 0
  /// Recurrent states of running sequences; 0 for models without recurrent layers.
  public var stateSlotCount: Int = 0
  /// Recurrent states that the prefix cache may keep.
  public var checkpointCount: Int = 0
  /// Tokens per KV block.
  public var blockSize: Int = 0
  /// Longest sequence in tokens.
  public var maximumModelLength: Int = 0
  /// Maximum number of running sequences.
  public var maximumSequences: Int = 0
  /// Maximum tokens per step.
  public var maximumBatchedTokens: Int = 0
  /// The total.
  public var totalBytes: Int64 = 0

  /// All values zero or empty, for tests that set what they need.
  public init() {}
}

/// A snapshot of an engine's activity.
///
/// ```swift
/// let now = engine.statistics
/// print(now.running, "running,", now.blocks - now.freeBlocks, "blocks in use")
/// ```
public struct EngineStatistics: Hashable, Sendable {
  /// Waiting requests.
  public var waiting: Int = 0
  /// Running requests.
  public var running: Int = 0
  /// KV blocks not in use.
  public var freeBlocks: Int64 = 0
  /// Total KV blocks.
  public var blocks: Int64 = 0
  /// Recurrent states not in use.
  public var freeStateSlots: Int = 0
  /// Total recurrent states.
  public var stateSlots: Int = 0
  /// Steps so far.
  public var steps: Int64 = 0
  /// How often a request was preempted.
  public var preemptions: Int64 = 0
  /// Tokens computed by the model so far.
  public var computedTokens: Int64 = 0
  /// Tokens generated so far.
  public var generatedTokens: Int64 = 0
  /// Seconds spent so far on scheduling.
  public var planSeconds: Double = 0
  /// Seconds spent so far on running the model.
  public var forwardSeconds: Double = 0
  /// Seconds spent so far on sampling tokens and sending their events.
  public var sampleSeconds: Double = 0
  /// Token masks of grammars, including cached ones.
  public var masks: Int64 = 0
  /// Tokens whose mask was late; their requests were left out of the steps until it was ready.
  public var lateMasks: Int64 = 0
  /// Seconds spent on masks, in parallel with the steps.
  public var maskSeconds: Double = 0
  /// Why no more answers can be generated, if the device has failed; nil while it works.
  public var fault: String?
  /// Statistics of the prefix cache.
  public var prefixCache: PrefixCacheStatistics = PrefixCacheStatistics()
  /// Images in prompts.
  public var images = ImageStatistics()
  /// Experts that are read from files; nil if all are in memory.
  public var experts: ExpertStatistics?
  /// Statistics of speculation.
  public var speculation: SpeculationStatistics = SpeculationStatistics()
  /// Prefixes on disk; nil without `EngineOptions.prefixCacheFolder`.
  public var disk: DiskCacheStatistics?
  /// Prefixes in the host's memory; nil without `EngineOptions.hostCacheBytes`.
  public var hostCache: HostCacheStatistics?

  /// All values zero or empty, for tests that set what they need.
  public init() {}
}

/// Images that went through the vision tower, and those whose results were cached.
public struct ImageStatistics: Hashable, Sendable {
  /// Images that the vision tower computed.
  public var computed: Int64 = 0
  /// Images whose results were known already.
  public var hits: Int64 = 0
  /// Bytes of the results kept for later prompts.
  public var cachedBytes: Int64 = 0

  /// All values zero, for tests that set what they need.
  public init() {}
}

/// Experts that stay in the model's files, with `EngineOptions.expertMemoryBytes`.
public struct ExpertStatistics: Hashable, Sendable {
  /// Memory for experts.
  public var memoryBytes: Int64 = 0
  /// Experts that a step needed and found in memory.
  public var hits: Int64 = 0
  /// Experts that were being read when a step needed them.
  public var late: Int64 = 0
  /// Experts whose read began when a step needed them.
  public var misses: Int64 = 0
  /// Reads so far.
  public var reads: Int64 = 0
  /// Bytes read so far, as in memory.
  public var readBytes: Int64 = 0
  /// Seconds that steps waited for reads.
  public var waitSeconds: Double = 0
  /// Guesses at experts of the next layer, which are read in advance.
  public var guesses: Int64 = 0
  /// Guesses that the next layer used.
  public var rightGuesses: Int64 = 0

  /// All values zero, for tests that set what they need.
  public init() {}
}

/// Statistics of speculative decoding.
public struct SpeculationStatistics: Hashable, Sendable {
  /// Steps with at least one draft, counted per sequence.
  public var draftSteps: Int64 = 0
  /// Tokens drafted.
  public var draftedTokens: Int64 = 0
  /// Drafted tokens that the model accepted.
  public var acceptedTokens: Int64 = 0
  /// Accepted tokens by the draft's position in its step.
  public var acceptedByPosition: [Int64] = []
  /// Time saved compared with steps without drafts; negative if drafting cost time.
  public var savedMilliseconds: Double = 0

  /// The former name of ``acceptedByPosition``.
  @available(*, deprecated, renamed: "acceptedByPosition")
  public var acceptedByPlace: [Int64] { acceptedByPosition }

  /// All values zero or empty, for tests that set what they need.
  public init() {}
}

/// Contents and savings of the prefix cache.
public struct PrefixCacheStatistics: Hashable, Sendable {
  /// Requests that looked up their prompt.
  public var lookups: Int64 = 0
  /// Requests that found at least one token.
  public var hits: Int64 = 0
  /// Prompt tokens found, over all hits.
  public var cachedTokens: Int64 = 0
  /// Tokens computed again after a preemption because they had been evicted.
  public var recomputedTokens: Int64 = 0
  /// KV blocks with cached tokens, in use or not.
  public var cachedBlocks: Int64 = 0
  /// Cached KV blocks evicted so far.
  public var blockEvictions: Int64 = 0
  /// Cached recurrent states.
  public var checkpoints: Int = 0
  /// Maximum number of cached recurrent states.
  public var maximumCheckpoints: Int = 0
  /// Bytes of the cached states.
  public var checkpointBytes: Int64 = 0
  /// States evicted so far.
  public var checkpointEvictions: Int64 = 0
  /// Requests that resumed from a saved state so far.
  public var checkpointHits: Int64 = 0
  /// Where the last near-miss diverged, as a token index: a prompt whose blocks matched beyond the last saved state. Nil
  /// if there was none.
  public var lastNearMiss: Int?

  /// All values zero or empty, for tests that set what they need.
  public init() {}
}

/// The part of the prefix cache in host memory, in addition to the device's caches.
public struct HostCacheStatistics: Hashable, Sendable {
  /// Cached prefixes.
  public var prefixes: Int64 = 0
  /// Bytes of the cached prefixes.
  public var bytes: Int64 = 0
  /// Maximum bytes.
  public var maximumBytes: Int64 = 0
  /// Prefixes read back into the caches so far.
  public var hits: Int64 = 0
  /// Prefixes copied out of the caches so far.
  public var writes: Int64 = 0
  /// Prefixes not copied because they are larger than the limit.
  public var dropped: Int64 = 0
  /// Prefixes evicted to stay below the limit.
  public var evictions: Int64 = 0

  /// All values zero or empty, for tests that set what they need.
  public init() {}
}

/// The part of the prefix cache on disk.
public struct DiskCacheStatistics: Hashable, Sendable {
  /// Why nothing is being written; nil if writing works. After a failure, writing is retried every few seconds.
  public var offReason: String?
  /// Files in the folder, including those of other processes.
  public var files: Int64 = 0
  /// Bytes of these files.
  public var bytes: Int64 = 0
  /// Maximum bytes.
  public var maximumBytes: Int64 = 0
  /// Files read so far.
  public var reads: Int64 = 0
  /// Files written so far.
  public var writes: Int64 = 0
  /// Writes that failed.
  public var failures: Int64 = 0
  /// Files not written because the disk was too slow.
  public var dropped: Int64 = 0
  /// Files removed to stay below the limit.
  public var evictions: Int64 = 0
  /// Files removed because they were invalid.
  public var badFiles: Int64 = 0

  /// All values zero or empty, for tests that set what they need.
  public init() {}
}
