// ChatSettings: how the answers of one conversation are made; and what an answer took.
import PagodaKit

/// How the answers of one conversation are made. Nil means: as the model says.
public struct ChatSettings: Codable, Hashable, Sendable {
  /// The system prompt; empty for none.
  public var instructions = ""
  /// Whether the model thinks before it answers.
  public var thinking: Bool?
  /// Most tokens of thinking.
  public var thinkingBudget: Int?
  /// Flattens (above 1) or sharpens the choice of tokens; 0 takes the likeliest.
  public var temperature: Double?
  /// Keeps the likeliest tokens up to this sum, in (0, 1].
  public var topP: Double?
  /// Keeps this many of the likeliest tokens.
  public var topK: Int?
  /// Drops tokens below this share of the likeliest one.
  public var minP: Double?
  /// Above 1 makes what was said less likely to come again.
  public var repetitionPenalty: Double?
  /// Makes what the answer said less likely to come again, in [-2, 2].
  public var presencePenalty: Double?
  /// The same seed gives the same answer.
  public var seed: UInt64?
  /// Most tokens of an answer.
  public var maximumTokens: Int?

  /// The model's own values.
  public init() {}

  /// The same as the engine takes it.
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

/// What an answer took.
public struct TokenStats: Codable, Hashable, Sendable {
  /// Tokens of the prompt.
  public var promptTokens = 0
  /// Prompt tokens that were found in the prefix cache.
  public var cachedTokens = 0
  /// Tokens generated.
  public var completionTokens = 0
  /// From sending to the first token, in seconds.
  public var secondsToFirstToken = 0.0
  /// From the first token to the last, in seconds.
  public var generationSeconds = 0.0

  /// Nothing yet.
  public init() {}

  /// What a finished answer reports.
  public init(_ completion: Completion) {
    promptTokens = completion.usage.promptTokens
    cachedTokens = completion.usage.cachedTokens
    completionTokens = completion.usage.completionTokens
    secondsToFirstToken = (completion.timings.queueMilliseconds + completion.timings.promptMilliseconds) / 1000
    generationSeconds = completion.timings.generationMilliseconds / 1000
  }

  /// Tokens a second after the first one; nil for answers too short to tell.
  public var tokensPerSecond: Double? {
    completionTokens > 1 && generationSeconds > 0 ? Double(completionTokens - 1) / generationSeconds : nil
  }

  /// Tokens of the context that prompt and answer fill.
  public var contextTokens: Int { promptTokens + completionTokens }
}
