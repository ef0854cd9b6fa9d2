// ChatSettings: generation settings of one conversation; and the token statistics of an answer.
import PagodaKit

/// Generation settings of one conversation. Nil means the model's default.
public struct ChatSettings: Codable, Hashable, Sendable {
  /// The system prompt; empty for none.
  public var instructions = ""
  /// Whether the model thinks before answering.
  public var thinking: Bool?
  /// Upper limit of thinking tokens.
  public var thinkingBudget: Int?
  /// Flattens (above 1) or sharpens the distribution; 0 picks the most likely token.
  public var temperature: Double?
  /// Keeps the most likely tokens up to this total probability, in (0, 1].
  public var topP: Double?
  /// Keeps this many of the most likely tokens.
  public var topK: Int?
  /// Drops tokens below this fraction of the most likely one's probability.
  public var minP: Double?
  /// Above 1 makes tokens that already occurred less likely.
  public var repetitionPenalty: Double?
  /// Makes tokens of the answer so far less likely, in [-2, 2].
  public var presencePenalty: Double?
  /// The same seed gives the same answer.
  public var seed: UInt64?
  /// Upper limit of answer tokens.
  public var maximumTokens: Int?

  /// What happens when the conversation no longer fits the context; nil means that the oldest turns leave the prompt.
  public var contextPolicy: ContextPolicy?

  /// The model's defaults.
  public init() {}

  /// The same as the engine's sampling parameters.
  public var sampling: SamplingParameters {
    var sampling = SamplingParameters()
    sampling.temperature = temperature
    sampling.topP = topP
    sampling.topK = topK
    sampling.minP = minP
    sampling.repetitionPenalty = repetitionPenalty
    sampling.presencePenalty = presencePenalty
    sampling.seed = seed
    sampling.maximumTokens = maximumTokens
    sampling.thinkingBudget = thinkingBudget
    return sampling
  }
}

/// Token statistics of an answer.
public struct TokenStats: Codable, Hashable, Sendable {
  /// Tokens of the prompt.
  public var promptTokens = 0
  /// Prompt tokens found in the prefix cache.
  public var cachedTokens = 0
  /// Tokens generated.
  public var completionTokens = 0
  /// Seconds from sending to the first token.
  public var secondsToFirstToken = 0.0
  /// Seconds from the first token to the last.
  public var generationSeconds = 0.0

  /// All zero.
  public init() {}

  /// The statistics of a finished answer.
  public init(_ completion: Completion) {
    promptTokens = completion.usage.promptTokens
    cachedTokens = completion.usage.cachedTokens
    completionTokens = completion.usage.completionTokens
    secondsToFirstToken = (completion.timings.queueMilliseconds + completion.timings.promptMilliseconds) / 1000
    generationSeconds = completion.timings.generationMilliseconds / 1000
  }

  /// Tokens per second after the first one; nil for answers too short to measure.
  public var tokensPerSecond: Double? {
    completionTokens > 1 && generationSeconds > 0 ? Double(completionTokens - 1) / generationSeconds : nil
  }

  /// Tokens, speed and waiting time in words; nil before the first token.
  public var summary: String? {
    guard completionTokens > 0 else { return nil }
    var parts = [completionTokens == 1 ? localized("1 token") : localized("\(completionTokens) tokens")]
    if let rate = tokensPerSecond { parts.append(localized("\((rate * 10).rounded() / 10) per second")) }
    if secondsToFirstToken > 0 {
      parts.append(localized("first after \((secondsToFirstToken * 100).rounded() / 100) s"))
    }
    if cachedTokens > 0 { parts.append(localized("\(cachedTokens) of \(promptTokens) prompt tokens cached")) }
    return parts.joined(separator: ", ")
  }

  /// Context tokens used by prompt and answer.
  public var contextTokens: Int { promptTokens + completionTokens }
}
