// FieldNames: what errors call the options of an engine and the fields of a request.

/// An error about one field. Public functions throw its ``error`` with the name that their callers know.
package struct RefusedField: Error {
  /// As the headers of the core write it, such as `max_num_seqs`.
  package var field: String
  /// With the core's name in its message, if the message names the field.
  package var error: PagodaError

  package init(_ field: String, _ error: PagodaError) {
    self.field = field
    self.error = error
  }

  /// The error with the name that `names` has for the field.
  package func named(_ names: FieldNames) -> PagodaError { error.replacing(field, with: names[field]) }
}

/// Names for fields of the core.
package struct FieldNames: Hashable, Sendable {
  package let names: [String: String]

  /// - Parameter names: by the core's name; a field that is missing keeps that one.
  package init(_ names: [String: String]) { self.names = names }

  package subscript(field: String) -> String { names[field] ?? field }

  /// The properties of ``EngineOptions``, ``SamplingParameters`` and ``Request``.
  package static let properties = FieldNames([
    "num_threads": "threadCount", "max_num_seqs": "maximumSequences", "max_num_batched_tokens": "maximumBatchedTokens",
    "max_model_len": "maximumModelLength", "num_kv_blocks": "kvBlockCount", "kv_cache_bytes": "kvCacheBytes",
    "checkpoint_bytes": "checkpointBytes", "host_cache_bytes": "hostCacheBytes",
    "lora_bytes": "loraBytes", "expert_memory_bytes": "expertMemoryBytes",
    "weight_cache_disk_bytes": "weightCacheDiskBytes", "prefix_cache_disk_bytes": "prefixCacheDiskBytes",
    "max_step_ms": "maximumStepMilliseconds", "max_drafts": "maximumDrafts", "block_size": "blockSize",
    "vision_file": "visionFile", "max_image_tokens": "maximumImageTokens", "image_cache_bytes": "imageCacheBytes",
    "kv_dtype": "kvDType", "weight_cache": "weightCacheFolder", "prefix_cache_dir": "prefixCacheFolder",
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
    "ignore_eos": "ignoresEndOfText", "cache_salt": "cacheSalt", "share_id": "shareID",
  ])
}

extension PagodaError {
  /// The same error with another word for the first `word` of its message.
  fileprivate func replacing(_ word: String, with other: String) -> PagodaError {
    func replaced(_ message: String) -> String {
      var rest = message[...]
      while let found = rest.firstRange(of: word) {
        let before = message[..<found.lowerBound].last, after = message[found.upperBound...].first
        if ![before, after].contains(where: { $0.map(\.isPartOfName) ?? false }) {
          return String(message[..<found.lowerBound]) + other + message[found.upperBound...]
        }
        rest = message[found.upperBound...]
      }
      return message
    }
    return switch self {
    case .invalidArgument(let message): .invalidArgument(replaced(message))
    case .unsupported(let message): .unsupported(replaced(message))
    case .outOfMemory(let message): .outOfMemory(replaced(message))
    case .resourceExhausted(let message): .resourceExhausted(replaced(message))
    case .notFound(let message): .notFound(replaced(message))
    default: self
    }
  }
}

extension Character {
  fileprivate var isPartOfName: Bool { isLetter || isNumber || self == "_" }
}

/// Runs `work`; its errors name the properties that a client sets.
func namingProperties<Result>(_ work: () throws -> Result) throws -> Result {
  do { return try work() } catch let error as RefusedField { throw error.named(.properties) }
}
