// Event: an element of an answer's stream.

/// An event in the stream of an answer. A token comes first, then the text that it completes, if any; `finished` comes
/// last, exactly once. An answer that fails or is cancelled ends the stream with an error instead. Later versions may
/// add cases.
///
/// ```swift
/// for try await event in engine.submit(Request("Hello!")) {
///   switch event {
///   case .text(let text): print(text, terminator: "")
///   case .finished(let completion): print(completion.finishReason)
///   default: break
///   }
/// }
/// ```
public enum Event: Hashable, Sendable {
  /// More of the answer.
  case text(String)
  /// More of the model's reasoning before the answer.
  case reasoning(String)
  /// A tool was called; its arguments are valid JSON.
  case toolCall(ToolCall)
  /// Output that looked like a call but is not valid; its markup is not text.
  case rejectedToolCall(RejectedToolCall)
  /// A tool of a session failed; ``ChatSession/toolFailures`` decides what follows.
  case toolFailed(ToolFailure)
  /// A token was sampled.
  case token(TokenInfo)
  /// Part of a long prompt has been read; only if ``Request/promptProgressInterval`` is set, before the first token.
  case promptProgress(PromptProgress)
  /// The oldest turns of the conversation were left out of the prompt, because it would not fit the context; only with
  /// ``ContextPolicy/trim``, as the first event.
  case contextTrimmed(omittedMessages: Int)
  /// The answer is complete.
  case finished(Completion)
}

/// A token of an answer.
public struct TokenInfo: Hashable, Sendable {
  /// Its id.
  public var id: Int32
  /// Its log probability before penalties and temperature, if requested.
  public var logProbability: Float?
  /// The most likely tokens at this position, if requested.
  public var topLogProbabilities: [TokenLogProbability]
  /// The rank of a prompt token, 1 for the most likely; nil for tokens of an answer.
  public var rank: Int?

  /// A token with or without its probabilities.
  public init(id: Int32, logProbability: Float? = nil, topLogProbabilities: [TokenLogProbability] = []) {
    self.id = id
    self.logProbability = logProbability
    self.topLogProbabilities = topLogProbabilities
  }
}

/// A token and its log probability.
public struct TokenLogProbability: Hashable, Sendable {
  /// The token's id.
  public var id: Int32
  /// Log softmax of the logits before penalties and temperature.
  public var logProbability: Float

  /// A token and its log probability.
  public init(id: Int32, logProbability: Float) {
    self.id = id
    self.logProbability = logProbability
  }
}

/// Why an answer ended.
public enum FinishReason: String, Hashable, Sendable, CaseIterable {
  /// An end-of-text token, a stop token or a stop string.
  case stop
  /// The token limit or the context length.
  case length
  /// The request was cancelled or the engine was shut down. Streams throw instead, so clients do not see it.
  case cancelled
}

/// The finish reason of an answer, its usage and timings.
///
/// ```swift
/// let completion = try await engine.respond(to: "Hello!").completion
/// if completion.finishReason == .length { print("cut after \(completion.usage.completionTokens) tokens") }
/// ```
public struct Completion: Hashable, Sendable {
  /// Why it ended.
  public var finishReason: FinishReason
  /// The stop string that ended it, if one did.
  public var stopString: String?
  /// Token counts.
  public var usage: Usage
  /// The time of each phase.
  public var timings: Timings
  /// The prompt's tokens, if their log probabilities were requested; the first has none.
  public var promptTokens: [TokenInfo] = []

  /// The completion of an answer.
  public init(finishReason: FinishReason, stopString: String? = nil, usage: Usage, timings: Timings) {
    self.finishReason = finishReason
    self.stopString = stopString
    self.usage = usage
    self.timings = timings
  }
}

/// Token counts.
public struct Usage: Hashable, Sendable {
  /// Tokens of the prompt.
  public var promptTokens: Int
  /// Generated tokens, including an end-of-text token.
  public var completionTokens: Int
  /// Prompt tokens that were not computed because they were cached.
  public var cachedTokens: Int
  /// Prompt tokens found in the cache: the position where the prompt diverged from all earlier ones. More than
  /// `cachedTokens` if no state was saved at that position.
  public var matchedTokens: Int
  /// Tokens of the prompt that are images.
  public var imageTokens = 0

  /// Token counts.
  public init(promptTokens: Int, completionTokens: Int, cachedTokens: Int, matchedTokens: Int = 0) {
    self.promptTokens = promptTokens
    self.completionTokens = completionTokens
    self.cachedTokens = cachedTokens
    self.matchedTokens = matchedTokens
  }
}

/// The time of a request by phase, in milliseconds of wall-clock time.
public struct Timings: Hashable, Sendable {
  /// Time from submission to the first step.
  public var queueMilliseconds: Double
  /// Time from the first step to the first token.
  public var promptMilliseconds: Double
  /// Time from the first token to the last.
  public var generationMilliseconds: Double
  /// How often the request was preempted.
  public var preemptions: Int
  /// Tokens drafted.
  public var draftedTokens: Int
  /// Drafted tokens that the model accepted.
  public var acceptedTokens: Int

  /// Times in milliseconds.
  public init(
    queueMilliseconds: Double, promptMilliseconds: Double, generationMilliseconds: Double, preemptions: Int = 0,
    draftedTokens: Int = 0, acceptedTokens: Int = 0
  ) {
    self.queueMilliseconds = queueMilliseconds
    self.promptMilliseconds = promptMilliseconds
    self.generationMilliseconds = generationMilliseconds
    self.preemptions = preemptions
    self.draftedTokens = draftedTokens
    self.acceptedTokens = acceptedTokens
  }
}

/// A whole answer. Its description is its text.
///
/// ```swift
/// let response = try await engine.respond(to: "Hello!")
/// print(response.text, response.reasoning, response.usage.completionTokens, response.completion.finishReason)
/// ```
public struct Response: Hashable, Sendable, CustomStringConvertible {
  /// The answer.
  public var text: String
  /// The model's thinking before the answer; empty if there was none.
  public var reasoning: String
  /// The tool calls, in order.
  public var toolCalls: [ToolCall]
  /// Outputs that looked like calls but are not valid.
  public var rejectedToolCalls: [RejectedToolCall]
  /// The generated tokens, in order.
  public var tokens: [TokenInfo]
  /// Finish reason, usage and timings; of the last round if tools were run.
  public var completion: Completion
  /// Token counts.
  public var usage: Usage { completion.usage }
  /// The text.
  public var description: String { text }

  /// A whole answer.
  public init(
    text: String, reasoning: String = "", toolCalls: [ToolCall] = [], rejectedToolCalls: [RejectedToolCall] = [],
    tokens: [TokenInfo], completion: Completion
  ) {
    self.text = text
    self.reasoning = reasoning
    self.toolCalls = toolCalls
    self.rejectedToolCalls = rejectedToolCalls
    self.tokens = tokens
    self.completion = completion
  }
}
