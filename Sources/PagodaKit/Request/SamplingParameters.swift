// SamplingParameters: how one request turns logits into tokens and when it ends.

/// How a request picks its tokens and when it ends. Nil means: as the model's `generation_config.json` says, and where
/// it says nothing, greedy and without penalties.
public struct SamplingParameters: Hashable, Sendable, Codable {
  /// Flattens (above 1) or sharpens the distribution; 0 always takes the most likely token.
  public var temperature: Double?
  /// Keeps the k most likely tokens; 0 keeps all.
  public var topK: Int?
  /// Keeps the most likely tokens that together reach this probability, in (0, 1].
  public var topP: Double?
  /// Drops tokens less likely than this share of the most likely one, in [0, 1).
  public var minP: Double?
  /// Above 1 makes tokens of the prompt and of the answer less likely to come again.
  public var repetitionPenalty: Double?
  /// Subtracted from the logit of tokens that the answer has used, in [-2, 2].
  public var presencePenalty: Double?
  /// Subtracted once per use in the answer, in [-2, 2].
  public var frequencyPenalty: Double?
  /// Added to the logits of these token ids; -100 or less removes a token.
  public var logitBias: [Int32: Double] = [:]
  /// The same seed gives the same answer; nil draws one.
  public var seed: UInt64?
  /// Most tokens to generate; nil means what is left of the context, 2048 at most.
  public var maximumTokens: Int?
  /// The answer does not end before this many tokens.
  public var minimumTokens = 0
  /// Continues after the model's end-of-text token.
  public var ignoresEndOfText = false
  /// Further token ids that end the answer and are not part of its text.
  public var stopTokens: [Int32] = []
  /// Strings that end the answer; the text stops before the first of them.
  public var stopStrings: [String] = []
  /// Words that must not come, in the sense of vLLM: the tokens that a word is made of do not follow each other.
  public var badWords: [String] = []
  /// Sequences of tokens that must not come.
  package var bannedTokens: [[Int32]] = []
  /// Most tokens of thinking before it is closed for the model; nil for no limit.
  public var thinkingBudget: Int?
  /// Nil reports no log probabilities, 0 those of the tokens taken, n also those of the n most likely ones.
  public var topLogProbabilities: Int?

  /// The model's own values.
  public init() {}

  /// Fields that are missing have their defaults, so that what an older version wrote, or a person, can be read.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    temperature = try fields.decodeIfPresent(Double.self, forKey: .temperature)
    topK = try fields.decodeIfPresent(Int.self, forKey: .topK)
    topP = try fields.decodeIfPresent(Double.self, forKey: .topP)
    minP = try fields.decodeIfPresent(Double.self, forKey: .minP)
    repetitionPenalty = try fields.decodeIfPresent(Double.self, forKey: .repetitionPenalty)
    presencePenalty = try fields.decodeIfPresent(Double.self, forKey: .presencePenalty)
    frequencyPenalty = try fields.decodeIfPresent(Double.self, forKey: .frequencyPenalty)
    logitBias = try fields.decodeIfPresent([Int32: Double].self, forKey: .logitBias) ?? logitBias
    seed = try fields.decodeIfPresent(UInt64.self, forKey: .seed)
    maximumTokens = try fields.decodeIfPresent(Int.self, forKey: .maximumTokens)
    minimumTokens = try fields.decodeIfPresent(Int.self, forKey: .minimumTokens) ?? minimumTokens
    ignoresEndOfText = try fields.decodeIfPresent(Bool.self, forKey: .ignoresEndOfText) ?? ignoresEndOfText
    stopTokens = try fields.decodeIfPresent([Int32].self, forKey: .stopTokens) ?? stopTokens
    stopStrings = try fields.decodeIfPresent([String].self, forKey: .stopStrings) ?? stopStrings
    badWords = try fields.decodeIfPresent([String].self, forKey: .badWords) ?? badWords
    bannedTokens = try fields.decodeIfPresent([[Int32]].self, forKey: .bannedTokens) ?? bannedTokens
    thinkingBudget = try fields.decodeIfPresent(Int.self, forKey: .thinkingBudget)
    topLogProbabilities = try fields.decodeIfPresent(Int.self, forKey: .topLogProbabilities)
  }
}
