// Conversion of the core's events to Swift values.
internal import CxxCore

extension TokenInfo {
  init(_ event: borrowing pagoda.Event) {
    id = event.token_id
    logProbability = event.has_logprob ? event.logprob : nil
    topLogProbabilities = event.top_logprobs.map { TokenLogProbability(id: $0.token_id, logProbability: $0.logprob) }
    rank = event.kind == .prompt_token ? Int(event.rank) : nil
  }
}

extension Completion {
  init(_ event: borrowing pagoda.Event) {
    finishReason =
      switch event.finish_reason {
      case .length: .length
      case .cancelled: .cancelled
      default: .stop
      }
    let string = String(event.stop_string)
    stopString = string.isEmpty ? nil : string
    usage = Usage(
      promptTokens: Int(event.usage.prompt_tokens), completionTokens: Int(event.usage.completion_tokens),
      cachedTokens: Int(event.usage.cached_tokens), matchedTokens: Int(event.usage.matched_tokens))
    timings = Timings(
      queueMilliseconds: event.timings.queue_ms, promptMilliseconds: event.timings.prompt_ms,
      generationMilliseconds: event.timings.generation_ms, preemptions: Int(event.timings.num_preemptions),
      draftedTokens: Int(event.timings.num_drafted_tokens), acceptedTokens: Int(event.timings.num_accepted_tokens))
  }
}
