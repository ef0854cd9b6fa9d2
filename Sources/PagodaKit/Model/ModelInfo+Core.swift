// Conversion of the core's descriptions and statistics to Swift values.
internal import CxxCore

extension ModelInfo {
  init(_ info: pagoda.ModelInfo) {
    architecture = String(info.architecture)
    family = String(info.family)
    layerCount = Int(info.num_layers)
    attentionLayerCount = Int(info.num_attention_layers)
    recurrentLayerCount = Int(info.num_recurrent_layers)
    hiddenSize = Int(info.hidden_size)
    vocabularySize = Int(info.vocab_size)
    contextLength = Int(info.context_length)
    parameterCount = info.num_parameters
    layerMatrices = MatrixSum(info.layer_matrices)
    headMatrix = MatrixSum(info.head_matrix)
    weightDType = String(info.weight_dtype)
    weightFormats = info.formats.map(WeightFormatSum.init)
    otherWeights = info.other_weights.map(OtherWeights.init)
    kvDType = String(info.kv_dtype)
    let states = String(info.state_dtype)
    stateDType = states.isEmpty ? nil : states
    device = String(info.device)
    deviceName = String(info.device_name)
    hasTokenizer = info.has_tokenizer
    hasChatTemplate = info.has_chat_template
    let templateError = String(info.chat_template_error)
    chatTemplateError = templateError.isEmpty ? nil : templateError
    skippedTensors = info.skipped_tensors.map { String($0) }
    load = info.load_seconds > 0 ? LoadSummary(info) : nil
    let cacheNote = String(info.weight_cache_note)
    weightCacheNote = cacheNote.isEmpty ? nil : cacheNote
    endOfTextTokens = Array(info.eos_token_ids)
    readsImages = info.has_vision
    imageRefusal = info.has_vision ? nil : String(info.vision_refusal)
    visionParameterCount = info.vision_parameters
    visionDevice = info.has_vision ? String(info.vision_device) : nil
    maximumImageTokens = Int(info.max_image_tokens)
    imageGeometry = ImageGeometry(info.image_options)
    let numbers = String(info.fingerprint)
    fingerprint = numbers.isEmpty ? nil : numbers
    let stages = String(info.pipeline)
    pipeline = stages.isEmpty ? nil : stages
    plan = MemoryPlan(info.plan)
  }
}

extension LoadSummary {
  init(_ info: pagoda.ModelInfo) {
    weightsBytes = info.loaded_bytes
    seconds = info.load_seconds
  }
}

extension MatrixSum {
  init(_ sum: pagoda.MatrixSum) { self.init(parameterCount: sum.num_parameters, bytes: sum.size_bytes) }
}

extension WeightFormatSum {
  init(_ sum: pagoda.FormatSum) {
    format = String(sum.format)
    matrixCount = Int(sum.num_matrices)
    matrices = MatrixSum(sum.sum)
  }
}

extension OtherWeights {
  init(_ other: pagoda.OtherWeights) {
    quantize = EngineOptions.Quantization(rawValue: String(other.quantize)) ?? .automatic
    weightsBytes = other.weights_bytes
    bytesPerToken = other.token_bytes
  }
}

extension MemoryPlan {
  init(_ plan: pagoda.MemoryPlan) {
    deviceLimitBytes = plan.device_limit_bytes
    weightsBytes = plan.weights_bytes
    kvBytes = plan.kv_bytes
    stateBytes = plan.state_bytes
    checkpointBytes = plan.checkpoint_bytes
    hostCacheBytes = plan.host_cache_bytes
    visionBytes = plan.vision_bytes
    visionHostBytes = plan.vision_host_bytes
    adapterBytes = plan.adapter_bytes
    expertMemoryBytes = plan.expert_memory_bytes
    expertBytes = plan.expert_bytes
    expertTokenBytes = plan.expert_token_bytes
    workspaceBytes = plan.workspace_bytes
    kvBlockBytes = plan.kv_block_bytes
    stateSlotBytes = plan.state_slot_bytes
    kvBlockCount = plan.limits.num_kv_blocks
    stateSlotCount = Int(plan.limits.num_running_slots())
    checkpointCount = Int(plan.limits.num_checkpoints)
    blockSize = Int(plan.limits.block_size)
    maximumModelLength = Int(plan.limits.max_model_len)
    maximumSequences = Int(plan.limits.max_num_seqs)
    maximumBatchedTokens = Int(plan.limits.max_num_tokens)
    totalBytes = plan.total_bytes()
  }
}

extension EngineStatistics {
  init(_ stats: pagoda.EngineStats) {
    waiting = Int(stats.num_waiting)
    running = Int(stats.num_running)
    freeBlocks = stats.num_free_blocks
    blocks = stats.num_blocks
    freeStateSlots = Int(stats.num_free_state_slots)
    stateSlots = Int(stats.num_state_slots)
    steps = stats.num_steps
    preemptions = stats.num_preemptions
    computedTokens = stats.num_computed_tokens
    generatedTokens = stats.num_generated_tokens
    planSeconds = stats.plan_seconds
    forwardSeconds = stats.forward_seconds
    sampleSeconds = stats.sample_seconds
    masks = stats.num_masks
    lateMasks = stats.num_late_masks
    maskSeconds = stats.mask_seconds
    fault = stats.fault.empty() ? nil : String(stats.fault)
    prefixCache = PrefixCacheStatistics(stats.cache)
    images.computed = stats.images.num_computed
    images.hits = stats.images.num_hits
    images.cachedBytes = stats.images.cached_bytes
    experts = stats.experts.memory_bytes > 0 ? ExpertStatistics(stats.experts) : nil
    speculation = SpeculationStatistics(stats.speculation)
    disk = stats.disk.max_bytes > 0 ? DiskCacheStatistics(stats.disk) : nil
    hostCache = stats.host.max_bytes > 0 ? HostCacheStatistics(stats.host) : nil
  }
}

extension SpeculationStatistics {
  init(_ stats: pagoda.SpeculationStats) {
    draftSteps = stats.num_draft_steps
    draftedTokens = stats.num_drafted_tokens
    acceptedTokens = stats.num_accepted_tokens
    let at = stats.num_accepted_at
    acceptedByPosition = [
      at.0, at.1, at.2, at.3, at.4, at.5, at.6, at.7, at.8, at.9, at.10, at.11, at.12, at.13, at.14,
    ]
    savedMilliseconds = stats.saved_ms
  }
}

extension ExpertStatistics {
  init(_ stats: pagoda.ExpertStats) {
    memoryBytes = stats.memory_bytes
    hits = stats.num_hits
    late = stats.num_late
    misses = stats.num_misses
    reads = stats.num_reads
    readBytes = stats.read_bytes
    waitSeconds = stats.wait_seconds
    guesses = stats.num_guesses
    rightGuesses = stats.num_right_guesses
  }
}

extension PrefixCacheStatistics {
  init(_ stats: pagoda.CacheStats) {
    lookups = stats.num_lookups
    hits = stats.num_hits
    cachedTokens = stats.num_cached_tokens
    recomputedTokens = stats.num_recomputed_tokens
    cachedBlocks = stats.num_cached_blocks
    blockEvictions = stats.num_block_evictions
    checkpoints = Int(stats.num_checkpoints)
    maximumCheckpoints = Int(stats.max_checkpoints)
    checkpointBytes = stats.checkpoint_bytes
    checkpointEvictions = stats.num_checkpoint_evictions
    checkpointHits = stats.num_checkpoint_hits
    lastNearMiss = stats.last_near_miss >= 0 ? Int(stats.last_near_miss) : nil
  }
}

extension HostCacheStatistics {
  init(_ stats: pagoda.HostCacheStats) {
    prefixes = stats.num_prefixes
    bytes = stats.bytes
    maximumBytes = stats.max_bytes
    hits = stats.num_hits
    writes = stats.num_writes
    dropped = stats.num_dropped
    evictions = stats.num_evictions
  }
}

extension DiskCacheStatistics {
  init(_ stats: pagoda.DiskStats) {
    offReason = stats.is_on ? nil : String(stats.off_reason)
    files = stats.num_files
    bytes = stats.bytes
    maximumBytes = stats.max_bytes
    reads = stats.num_reads
    writes = stats.num_writes
    failures = stats.num_failures
    dropped = stats.num_dropped
    evictions = stats.num_evictions
    badFiles = stats.num_bad_files
  }
}
