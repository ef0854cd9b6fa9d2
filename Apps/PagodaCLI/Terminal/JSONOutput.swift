// JSON that the commands print: answers, models, errors. Member order and names are part of the interface.
import PagodaKit

extension JSONValue {
  /// The shortest decimal that reads back as the same Float.
  static func float(_ value: Float) -> JSONValue { Double("\(value)").map { .number($0) } ?? .null }

  /// The output of `generate --json`, and each line of `batch` after its id.
  static func answer(_ response: Response) -> [Member] {
    var members = [Member(key: "text", value: .string(response.text))]
    if !response.reasoning.isEmpty { members.append(Member(key: "reasoning", value: .string(response.reasoning))) }
    members.append(Member(key: "token_ids", value: .array(response.tokens.map { .integer(Int64($0.id)) })))
    let scored = response.tokens.filter { $0.logProbability != nil }  // none if a batch line has "logprobs": false
    members.append(Member(key: "logprobs", value: .array(scored.map(logprob))))
    let completion = response.completion
    members.append(Member(key: "finish_reason", value: .string(completion.finishReason.rawValue)))
    if let stop = completion.stopString { members.append(Member(key: "stop_string", value: .string(stop))) }
    members.append(Member(key: "usage", value: usage(completion.usage)))
    members.append(Member(key: "timings", value: timings(completion)))
    return members
  }

  private static func logprob(_ token: TokenInfo) -> JSONValue {
    .object([
      "token_id": .integer(Int64(token.id)),
      "logprob": token.logProbability.map { float($0) } ?? .null,
      "top": .array(token.topLogProbabilities.map { .array([.integer(Int64($0.id)), float($0.logProbability)]) }),
    ])
  }

  private static func usage(_ usage: Usage) -> JSONValue {
    .object([
      "prompt_tokens": .integer(Int64(usage.promptTokens)),
      "completion_tokens": .integer(Int64(usage.completionTokens)),
      "cached_tokens": .integer(Int64(usage.cachedTokens)),
      "matched_tokens": .integer(Int64(usage.matchedTokens)),
      "image_tokens": .integer(Int64(usage.imageTokens)),
    ])
  }

  private static func timings(_ completion: Completion) -> JSONValue {
    let timings = completion.timings
    return .object([
      "queue_ms": .number(timings.queueMilliseconds),
      "prompt_ms": .number(timings.promptMilliseconds),
      "generation_ms": .number(timings.generationMilliseconds),
      "generation_tokens_per_second": completion.tokensPerSecond.map { .number($0) } ?? .null,
      "preemptions": .integer(Int64(timings.preemptions)),
      "drafted_tokens": .integer(Int64(timings.draftedTokens)),
      "accepted_tokens": .integer(Int64(timings.acceptedTokens)),
    ])
  }

  /// The output of `info --json`.
  static func model(_ info: ModelInfo, images: [JSONValue] = []) -> JSONValue {
    .object([
      "architecture": .string(info.architecture), "family": .string(info.family),
      "num_layers": .integer(Int64(info.layerCount)),
      "num_attention_layers": .integer(Int64(info.attentionLayerCount)),
      "num_recurrent_layers": .integer(Int64(info.recurrentLayerCount)),
      "hidden_size": .integer(Int64(info.hiddenSize)), "vocab_size": .integer(Int64(info.vocabularySize)),
      "context_length": .integer(Int64(info.contextLength)), "num_parameters": .integer(info.parameterCount),
      "weight_dtype": .string(info.weightDType), "weights": weights(info), "kv_dtype": .string(info.kvDType),
      "state_dtype": info.stateDType.map { .string($0) } ?? .null, "device": .string(info.device),
      "has_tokenizer": .bool(info.hasTokenizer), "has_chat_template": .bool(info.hasChatTemplate),
      "chat_template_error": info.chatTemplateError.map { .string($0) } ?? .null,
      "eos_token_ids": .array(info.endOfTextTokens.map { .integer(Int64($0)) }),
      "skipped_tensors": .array(info.skippedTensors.map { .string($0) }), "memory_plan": plan(info.plan),
      "reads_images": .bool(info.readsImages), "image_refusal": info.imageRefusal.map { .string($0) } ?? .null,
      "vision_parameters": .integer(info.visionParameterCount),
      "max_image_tokens": .integer(Int64(info.maximumImageTokens)), "images": .array(images),
    ])
  }

  /// The formats of the matrices, and what other formats would take.
  private static func weights(_ info: ModelInfo) -> JSONValue {
    .object([
      "formats": .array(
        info.weightFormats.map {
          .object([
            "format": .string($0.format), "num_matrices": .integer(Int64($0.matrixCount)),
            "num_parameters": .integer($0.matrices.parameterCount), "bytes": .integer($0.matrices.bytes),
            "bits_per_weight": .number($0.matrices.bitsPerWeight),
          ])
        }),
      "bits_per_weight": .number(info.allMatrices.bitsPerWeight),
      "bytes_per_token": .integer(info.bytesPerToken),
      "others": .array(
        info.otherWeights.map {
          .object([
            "quantize": .string($0.quantize.rawValue), "weights_bytes": .integer($0.weightsBytes),
            "bytes_per_token": .integer($0.bytesPerToken),
          ])
        }),
      "cache_note": info.weightCacheNote.map { .string($0) } ?? .null,
    ])
  }

  private static func plan(_ plan: MemoryPlan) -> JSONValue {
    .object([
      "device_limit_bytes": .integer(plan.deviceLimitBytes), "weights_bytes": .integer(plan.weightsBytes),
      "kv_bytes": .integer(plan.kvBytes), "state_bytes": .integer(plan.stateBytes),
      "checkpoint_bytes": .integer(plan.checkpointBytes),
      "workspace_bytes": .integer(plan.workspaceBytes), "host_cache_bytes": .integer(plan.hostCacheBytes),
      "vision_bytes": .integer(plan.visionBytes), "vision_host_bytes": .integer(plan.visionHostBytes),
      "adapter_bytes": .integer(plan.adapterBytes), "expert_bytes": .integer(plan.expertBytes),
      "expert_memory_bytes": .integer(plan.expertMemoryBytes),
      "expert_read_bytes_per_token": .integer(plan.expertReadBytesPerToken),
      "total_bytes": .integer(plan.totalBytes),
      "kv_block_bytes": .integer(plan.kvBlockBytes), "state_slot_bytes": .integer(plan.stateSlotBytes),
      "num_kv_blocks": .integer(plan.kvBlockCount), "num_state_slots": .integer(Int64(plan.stateSlotCount)),
      "num_checkpoints": .integer(Int64(plan.checkpointCount)),
      "block_size": .integer(Int64(plan.blockSize)), "max_model_len": .integer(Int64(plan.maximumModelLength)),
      "max_num_seqs": .integer(Int64(plan.maximumSequences)),
      "max_num_batched_tokens": .integer(Int64(plan.maximumBatchedTokens)),
    ])
  }

  /// An `error` member.
  static func failure(code: String, message: String) -> Member {
    Member(key: "error", value: .object(["code": .string(code), "message": .string(message)]))
  }
}

extension Completion {
  /// Tokens per second after the first token; nil if there are none to measure.
  var tokensPerSecond: Double? {
    guard usage.completionTokens > 1, timings.generationMilliseconds > 0 else { return nil }
    return Double(usage.completionTokens - 1) / timings.generationMilliseconds * 1000
  }
}
