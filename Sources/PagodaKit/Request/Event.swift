// Event: what a stream of an answer delivers.

/// An event in the stream of an answer. A token comes first, then the text that became certain through it, if any;
/// `finished` comes last, exactly once. An answer that fails ends the stream with a ``PagodaError`` instead.
@frozen
public enum Event: Hashable, Sendable {
  /// More of the answer.
  case text(String)
  /// More of what the model thinks before it answers.
  case reasoning(String)
  /// A tool was called; its arguments are valid JSON.
  case toolCall(ToolCall)
  /// Output that looked like a call and is none; its markup is not text.
  case rejectedToolCall(RejectedToolCall)
  /// A token was taken.
  case token(TokenInfo)
  /// The answer is complete.
  case finished(Completion)
}

/// A token of an answer.
public struct TokenInfo: Hashable, Sendable {
  /// Its id.
  public var id: Int32
  /// Its log probability before penalties and temperature, if asked for.
  public var logProbability: Float?
  /// The most likely tokens at this position, if requested.
  public var topLogProbabilities: [TokenLogProbability]
  /// Of a prompt's token: 1 when it was the most likely; nil otherwise.
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
@frozen
public enum FinishReason: String, Hashable, Sendable, CaseIterable {
  /// An end-of-text token, a stop token or a stop string.
  case stop
  /// The token limit or the context length.
  case length
  /// The consumer went away or the engine was shut down.
  case cancelled
}

/// How an answer ended and what it took.
public struct Completion: Hashable, Sendable {
  /// Why it ended.
  public var finishReason: FinishReason
  /// The stop string that ended it, if one did.
  public var stopString: String?
  /// Counts of tokens.
  public var usage: Usage
  /// Where the time went.
  public var timings: Timings
  /// The prompt's tokens, if their log probabilities were asked for; the first has none.
  public var promptTokens: [TokenInfo] = []

  /// An end of an answer.
  public init(finishReason: FinishReason, stopString: String? = nil, usage: Usage, timings: Timings) {
    self.finishReason = finishReason
    self.stopString = stopString
    self.usage = usage
    self.timings = timings
  }
}

/// Counts of tokens.
public struct Usage: Hashable, Sendable {
  /// Tokens of the prompt.
  public var promptTokens: Int
  /// Tokens taken, an end-of-text token included.
  public var completionTokens: Int
  /// Prompt tokens that needed no computation because their state was found.
  public var cachedTokens: Int
  /// Prompt tokens that were cached: where the prompt diverged from all before it. More than `cachedTokens` when no
  /// state was saved at that position.
  public var matchedTokens: Int

  /// Counts of tokens.
  public init(promptTokens: Int, completionTokens: Int, cachedTokens: Int, matchedTokens: Int = 0) {
    self.promptTokens = promptTokens
    self.completionTokens = completionTokens
    self.cachedTokens = cachedTokens
    self.matchedTokens = matchedTokens
  }
}

/// Where the time of a request went, in milliseconds of wall clock.
public struct Timings: Hashable, Sendable {
  /// From submission to the first step.
  public var queueMilliseconds: Double
  /// From the first step to the first token.
  public var promptMilliseconds: Double
  /// From the first token to the last.
  public var generationMilliseconds: Double
  /// How often the request had to give up its memory and start over.
  public var preemptions: Int
  /// Tokens drafted for the model to check.
  public var draftedTokens: Int
  /// Of those, what the model chose itself.
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

/// A whole answer. Printed, it is its text.
public struct Response: Hashable, Sendable, CustomStringConvertible {
  /// The answer.
  public var text: String
  /// The model's thinking before the answer; empty if there was none.
  public var reasoning: String
  /// The tools called, in order.
  public var toolCalls: [ToolCall]
  /// Outputs that looked like calls and are none.
  public var rejectedToolCalls: [RejectedToolCall]
  /// The tokens taken, in order.
  public var tokens: [TokenInfo]
  /// How it ended and what it took; of the last round where tools were run in between.
  public var completion: Completion
  /// Counts of tokens.
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
