// ModelInfo and MemoryPlan: what a model is and what it costs in memory.

/// A model's properties and its memory plan.
public struct ModelInfo: Hashable, Sendable {
  /// The architecture's name in `config.json`.
  public var architecture: String
  /// The family: `qwen3_5`, `qwen3`, `qwen2`, `llama`.
  public var family: String
  /// Layers in all.
  public var layerCount: Int
  /// Layers with full attention.
  public var attentionLayerCount: Int
  /// Layers with a recurrent state.
  public var recurrentLayerCount: Int
  /// Width of the hidden state.
  public var hiddenSize: Int
  /// Number of token ids.
  public var vocabularySize: Int
  /// Longest sequence the model was made for, in tokens.
  public var contextLength: Int
  /// Parameters of the tensors in use.
  public var parameterCount: Int64
  /// The matrices that a token is multiplied with; of experts, those that it is sent to.
  public var layerMatrices: MatrixSum
  /// The matrix that gives the logits; only tokens whose successor is sampled are multiplied with it.
  public var headMatrix: MatrixSum
  /// Number format of the weights in memory.
  public var weightDType: String
  /// Number format of the KV cache.
  public var kvDType: String
  /// The device and the instruction set it runs.
  public var device: String
  /// The device's name on the command line, such as `cpu` or `metal`; never `auto`.
  public var deviceName: String
  /// Whether there is a tokenizer.
  public var hasTokenizer: Bool
  /// Whether there is a chat template.
  public var hasChatTemplate: Bool
  /// Why the folder's chat template cannot be used; nil when it can, or there is none.
  public var chatTemplateError: String?
  /// Tensors in the files that this engine does not use.
  public var skippedTensors: [String]
  /// How loading used `EngineOptions.weightCacheFolder`, or why it could not; nil without one.
  public var weightCacheNote: String?
  /// Token ids that end an answer.
  public var endOfTextTokens: [Int32]
  /// A hash of the outputs for a few tokens, as this device and this version compute them: engines with the same
  /// one give the same answers to the bit, on any machine. Nil without `EngineOptions.makesFingerprint`.
  public var fingerprint: String?
  /// Which stage runs which layers; nil for a model on one machine.
  public var pipeline: String?
  /// The memory plan.
  public var plan: MemoryPlan
}

/// The memory of an engine, computed before anything is allocated. Sizes are in bytes.
public struct MemoryPlan: Hashable, Sendable {
  /// The device's memory limit.
  public var deviceLimitBytes: Int64
  /// The weights.
  public var weightsBytes: Int64
  /// The KV cache: `kvBlockCount * kvBlockBytes`.
  public var kvBytes: Int64
  /// The recurrent states: `stateSlotCount * stateSlotBytes`.
  public var stateBytes: Int64
  /// The recurrent states that the prefix cache may keep: `checkpointCount * stateSlotBytes`.
  public var checkpointBytes: Int64
  /// Activations, inputs of a step, logits.
  public var workspaceBytes: Int64
  /// Prefixes in the host's memory. A part of `totalBytes` where the device has no memory of its own.
  public var hostCacheBytes: Int64
  /// One KV block.
  public var kvBlockBytes: Int64
  /// One recurrent state.
  public var stateSlotBytes: Int64
  /// KV blocks.
  public var kvBlockCount: Int64
  /// Recurrent states of running sequences; 0 for models without recurrent layers.
  public var stateSlotCount: Int
  /// Recurrent states that the prefix cache may keep.
  public var checkpointCount: Int
  /// Tokens per KV block.
  public var blockSize: Int
  /// Longest sequence in tokens.
  public var maximumModelLength: Int
  /// Sequences that run at once.
  public var maximumSequences: Int
  /// Tokens of one step.
  public var maximumBatchedTokens: Int
  /// Everything together.
  public var totalBytes: Int64
}

/// A snapshot of what an engine is doing.
public struct EngineStatistics: Hashable, Sendable {
  /// Requests that wait for room.
  public var waiting: Int
  /// Requests that run.
  public var running: Int
  /// KV blocks not in use.
  public var freeBlocks: Int64
  /// KV blocks in all.
  public var blocks: Int64
  /// Recurrent states not in use.
  public var freeStateSlots: Int
  /// Recurrent states in all.
  public var stateSlots: Int
  /// Steps so far.
  public var steps: Int64
  /// How often a request had to give up its memory.
  public var preemptions: Int64
  /// Tokens run through the model so far.
  public var computedTokens: Int64
  /// Tokens generated so far.
  public var generatedTokens: Int64
  /// Seconds spent so far on choosing what runs in a step,
  public var planSeconds: Double
  /// on the model,
  public var forwardSeconds: Double
  /// and on drawing tokens and sending their events.
  public var sampleSeconds: Double
  /// Masks of the tokens that grammars allow, remembered ones included.
  public var masks: Int64
  /// Tokens whose mask was not there in time; their requests stayed out of the steps until it was.
  public var lateMasks: Int64
  /// Seconds spent on masks, beside the steps.
  public var maskSeconds: Double
  /// Why no answer can be made any more, when the device has failed; nil while it works.
  public var fault: String?
  /// Statistics of the prefix cache.
  public var prefixCache: PrefixCacheStatistics
  /// Statistics of speculation.
  public var speculation: SpeculationStatistics
  /// Prefixes on disk; nil without `EngineOptions.prefixCacheFolder`.
  public var disk: DiskCacheStatistics?
  /// Prefixes in the host's memory; nil without `EngineOptions.hostCacheBytes`.
  public var hostCache: HostCacheStatistics?
}

/// Statistics of speculative decoding.
public struct SpeculationStatistics: Hashable, Sendable {
  /// Steps of one sequence with at least one draft.
  public var draftSteps: Int64
  /// Tokens drafted.
  public var draftedTokens: Int64
  /// Of those, what the model chose itself.
  public var acceptedTokens: Int64
  /// The same by the draft's position in its step.
  public var acceptedByPlace: [Int64]
  /// Time saved against steps without drafts; negative when lost.
  public var savedMilliseconds: Double
}

/// Contents and savings of the prefix cache.
public struct PrefixCacheStatistics: Hashable, Sendable {
  /// Requests that looked for their prompt.
  public var lookups: Int64
  /// Requests that found at least one token.
  public var hits: Int64
  /// Prompt tokens found, over all hits.
  public var cachedTokens: Int64
  /// Tokens computed again after a preemption, because they had been given up.
  public var recomputedTokens: Int64
  /// KV blocks whose tokens are known, in use or not.
  public var cachedBlocks: Int64
  /// Cached KV blocks given to other content so far.
  public var blockEvictions: Int64
  /// Recurrent states kept.
  public var checkpoints: Int
  /// Recurrent states that may be kept.
  public var maximumCheckpoints: Int
  /// Bytes of the states kept.
  public var checkpointBytes: Int64
  /// States given up so far.
  public var checkpointEvictions: Int64
  /// Requests that resumed from a saved state so far.
  public var checkpointHits: Int64
  /// Token index at which the last near-miss diverged: its blocks matched further than any saved state reached. Nil before one.
  public var lastNearMiss: Int?
}

/// The part of the prefix cache in the host's memory, beside the caches of the device.
public struct HostCacheStatistics: Hashable, Sendable {
  /// Prefixes kept.
  public var prefixes: Int64
  /// Bytes of them.
  public var bytes: Int64
  /// Most bytes of them.
  public var maximumBytes: Int64
  /// Prefixes read back into the caches so far.
  public var hits: Int64
  /// Prefixes copied out of the caches so far.
  public var writes: Int64
  /// Prefixes not copied because they are larger than the limit.
  public var dropped: Int64
  /// Prefixes given up to stay below the limit.
  public var evictions: Int64
}

/// The part of the prefix cache on disk.
public struct DiskCacheStatistics: Hashable, Sendable {
  /// Why nothing is written now; nil while it is. After a failure, writing is tried again every few seconds.
  public var offReason: String?
  /// Files in the folder, those of other processes included.
  public var files: Int64
  /// Bytes of them.
  public var bytes: Int64
  /// Most bytes of them.
  public var maximumBytes: Int64
  /// Files read so far.
  public var reads: Int64
  /// Files written so far.
  public var writes: Int64
  /// Writes that failed.
  public var failures: Int64
  /// Files not written because the disk was too slow.
  public var dropped: Int64
  /// Files removed to stay below the limit.
  public var evictions: Int64
  /// Files removed because something in them was not as it should be.
  public var badFiles: Int64
}

/// Matrices in sum.
public struct MatrixSum: Hashable, Sendable {
  /// Numbers in them.
  public var parameterCount: Int64
  /// Their size in memory.
  public var bytes: Int64
}
