// The core's names of options in error messages, replaced by those of the Swift properties.

/// Names of the core that clients do not know, and the properties of ``EngineOptions``, ``SamplingParameters`` and
/// ``Request`` that they come from.
private let propertyNames: [String: String] = [
  "num_threads": "threadCount", "max_num_seqs": "maximumSequences", "max_num_batched_tokens": "maximumBatchedTokens",
  "max_model_len": "maximumModelLength", "num_kv_blocks": "kvBlockCount", "kv_cache_bytes": "kvCacheBytes",
  "checkpoint_bytes": "checkpointBytes", "host_cache_bytes": "hostCacheBytes",
  "lora_bytes": "loraBytes", "expert_memory_bytes": "expertMemoryBytes",
  "weight_cache_disk_bytes": "weightCacheDiskBytes", "prefix_cache_disk_bytes": "prefixCacheDiskBytes",
  "max_step_ms": "maximumStepMilliseconds", "max_drafts": "maximumDrafts", "block_size": "blockSize",
  "vision_file": "visionFile", "max_image_tokens": "maximumImageTokens", "image_cache_bytes": "imageCacheBytes",
  "kv_dtype": "kvDType", "state_dtype": "stateDType", "weight_cache": "weightCacheFolder",
  "prefix_cache_dir": "prefixCacheFolder",
  "pipeline_split": "pipelineSplit", "pipeline_timeout_ms": "pipelineTimeout",
  "top_k": "topK", "top_p": "topP", "min_p": "minP", "top_n_sigma": "topNSigma",
  "xtc_probability": "xtc.probability", "xtc_threshold": "xtc.threshold",
  "dynatemp_range": "dynamicTemperature.range", "dynatemp_exponent": "dynamicTemperature.exponent",
  "dry_multiplier": "dry.multiplier", "dry_base": "dry.base", "dry_allowed_length": "dry.allowedLength",
  "dry_penalty_last_n": "dry.window", "dry_sequence_breakers": "dry.breakers",
  "repetition_penalty": "repetitionPenalty",
  "presence_penalty": "presencePenalty", "frequency_penalty": "frequencyPenalty", "max_tokens": "maximumTokens",
  "min_tokens": "minimumTokens", "thinking_budget": "thinkingBudget", "num_top_logprobs": "topLogProbabilities",
  "num_prompt_logprobs": "promptLogProbabilities", "logit_bias": "logitBias", "stop_ids": "stopTokens",
  "bad_words": "badWords", "checkpoint_positions": "checkpointPositions",
]

extension PagodaError {
  /// The same error, with the names of Swift properties in its message.
  package var namingProperties: PagodaError {
    switch self {
    case .invalidArgument(let message): .invalidArgument(Self.naming(message))
    case .unsupported(let message): .unsupported(Self.naming(message))
    case .outOfMemory(let message): .outOfMemory(Self.naming(message))
    default: self
    }
  }

  private static func naming(_ message: String) -> String {
    var (result, word) = ("", "")
    for character in message + " " {
      if character.isLetter || character.isNumber || character == "_" {
        word.append(character)
      } else {
        result += propertyNames[word] ?? word
        result.append(character)
        word = ""
      }
    }
    return String(result.dropLast())
  }

  /// The core's name of a Swift property in a message; nil for other words.
  package static func coreName(of property: String) -> String? { propertyNames.first { $0.value == property }?.key }
}

/// Runs `work`; its errors name the properties that a client sets.
func namingProperties<Result>(_ work: () throws -> Result) throws -> Result {
  do { return try work() } catch let error as PagodaError { throw error.namingProperties }
}
