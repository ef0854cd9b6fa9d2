// SamplingParameters: how one request turns logits into tokens and when it ends.

/// Sampling parameters and stop conditions of a request. Nil means the value in the model's `generation_config.json`,
/// or else greedy sampling without penalties.
///
/// ```swift
/// let session = ChatSession(engine, sampling: SamplingParameters(temperature: 0.7, topP: 0.95, seed: 1))
/// ```
public struct SamplingParameters: Hashable, Sendable, Codable {
  /// Flattens (above 1) or sharpens the distribution; 0 always selects the most likely token.
  public var temperature: Double?
  /// Keeps the k most likely tokens; 0 keeps all.
  public var topK: Int?
  /// Keeps the most likely tokens that together reach this probability, in (0, 1].
  public var topP: Double?
  /// Drops tokens whose probability is below this share of the most likely token's, in [0, 1).
  public var minP: Double?
  /// Drops tokens whose logit is more than this many standard deviations below the highest; nil or 0 keeps all.
  public var topNSigma: Double?
  /// Excludes the most likely tokens at random; nil never does.
  public var xtc: XTC?
  /// Varies the temperature from token to token; nil keeps it fixed.
  public var dynamicTemperature: DynamicTemperature?
  /// Penalises repetitions by their length; nil does not.
  public var dry: DRY?
  /// Above 1, tokens of the prompt and of the answer become less likely to be repeated; in (0, 10].
  public var repetitionPenalty: Double?
  /// Subtracted from the logit of tokens that the answer has used, in [-2, 2].
  public var presencePenalty: Double?
  /// Subtracted once per use in the answer, in [-2, 2].
  public var frequencyPenalty: Double?
  /// Added to the logits of these token ids; -100 or less removes a token.
  public var logitBias: [Int32: Double] = [:]
  /// The same seed gives the same answer; nil chooses one at random.
  public var seed: UInt64?
  /// Maximum tokens to generate; nil means the rest of the context.
  public var maximumTokens: Int?
  /// The answer has at least this many tokens.
  public var minimumTokens = 0
  /// Continues after the model's end-of-text token.
  public var ignoresEndOfText = false
  /// Additional token ids that end the answer and are not part of its text.
  public var stopTokens: [Int32] = []
  /// Strings that end the answer; the text stops before the first of them.
  public var stopStrings: [String] = []
  /// Words that must not occur, as in vLLM: the tokens of a word never follow each other.
  public var badWords: [String] = []
  /// Token sequences that must not occur.
  package var bannedTokens: [[Int32]] = []
  /// Maximum tokens of thinking before it is ended for the model. Nil means no limit; if ``maximumTokens`` is nil too,
  /// 32,768 tokens, and at most three quarters of the rest of the context, so that an answer can follow.
  public var thinkingBudget: Int?
  /// Nil reports no log probabilities, 0 those of the sampled tokens, n also those of the n most likely ones.
  public var topLogProbabilities: Int?

  /// Parameters; those not given are the model's own.
  public init(
    temperature: Double? = nil, topK: Int? = nil, topP: Double? = nil, minP: Double? = nil,
    repetitionPenalty: Double? = nil, presencePenalty: Double? = nil, frequencyPenalty: Double? = nil,
    logitBias: [Int32: Double] = [:], seed: UInt64? = nil, maximumTokens: Int? = nil, minimumTokens: Int = 0,
    ignoresEndOfText: Bool = false, stopTokens: [Int32] = [], stopStrings: [String] = [], badWords: [String] = [],
    thinkingBudget: Int? = nil, topLogProbabilities: Int? = nil, topNSigma: Double? = nil, xtc: XTC? = nil,
    dynamicTemperature: DynamicTemperature? = nil, dry: DRY? = nil
  ) {
    self.temperature = temperature
    self.topK = topK
    self.topP = topP
    self.minP = minP
    self.repetitionPenalty = repetitionPenalty
    self.presencePenalty = presencePenalty
    self.frequencyPenalty = frequencyPenalty
    self.logitBias = logitBias
    self.seed = seed
    self.maximumTokens = maximumTokens
    self.minimumTokens = minimumTokens
    self.ignoresEndOfText = ignoresEndOfText
    self.stopTokens = stopTokens
    self.stopStrings = stopStrings
    self.badWords = badWords
    self.thinkingBudget = thinkingBudget
    self.topLogProbabilities = topLogProbabilities
    self.topNSigma = topNSigma
    self.xtc = xtc
    self.dynamicTemperature = dynamicTemperature
    self.dry = dry
  }

  /// Missing fields get their defaults, so that files written by hand or by an older version can be read.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    temperature = try fields.decodeIfPresent(Double.self, forKey: .temperature)
    topK = try fields.decodeIfPresent(Int.self, forKey: .topK)
    topP = try fields.decodeIfPresent(Double.self, forKey: .topP)
    minP = try fields.decodeIfPresent(Double.self, forKey: .minP)
    topNSigma = try fields.decodeIfPresent(Double.self, forKey: .topNSigma)
    xtc = try fields.decodeIfPresent(XTC.self, forKey: .xtc)
    dynamicTemperature = try fields.decodeIfPresent(DynamicTemperature.self, forKey: .dynamicTemperature)
    dry = try fields.decodeIfPresent(DRY.self, forKey: .dry)
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
