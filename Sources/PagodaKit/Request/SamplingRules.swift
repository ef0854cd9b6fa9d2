// Sampling rules with several values each: XTC, dynamic temperature and DRY.

extension SamplingParameters {
  /// "Exclude top choices": of the tokens that are likely enough, only the least likely may be sampled. Makes prose
  /// less predictable.
  ///
  /// ```swift
  /// let sampling = SamplingParameters(temperature: 1, xtc: .init(probability: 0.5))
  /// ```
  public struct XTC: Hashable, Sendable, Codable {
    /// How often the rule applies, in [0, 1].
    public var probability: Double
    /// The probability from which a token counts as likely, in (0, 1].
    public var threshold: Double

    /// llama.cpp's threshold by default.
    public init(probability: Double, threshold: Double = 0.1) {
      self.probability = probability
      self.threshold = threshold
    }
  }

  /// The temperature follows the entropy of each token's distribution.
  ///
  /// ```swift
  /// let sampling = SamplingParameters(temperature: 1, dynamicTemperature: .init(range: 0.5))
  /// ```
  public struct DynamicTemperature: Hashable, Sendable, Codable {
    /// The temperature lies between ``SamplingParameters/temperature`` minus and plus this value.
    public var range: Double
    /// Applied to the entropy as a share of the largest possible one, in (0, 10].
    public var exponent: Double

    /// Proportional to the entropy by default.
    public init(range: Double, exponent: Double = 1) {
      self.range = range
      self.exponent = exponent
    }
  }

  /// "Don't repeat yourself": tokens that would continue a repetition become less likely, the more so the longer it is.
  ///
  /// ```swift
  /// let sampling = SamplingParameters(dry: .init(multiplier: 0.8))
  /// ```
  public struct DRY: Hashable, Sendable, Codable {
    /// The penalty of a repetition that is just too long; 0 switches the rule off.
    public var multiplier: Double
    /// The factor for each further token of the repetition, in [1, 10].
    public var base: Double
    /// Repeated tokens without a penalty.
    public var allowedLength: Int
    /// The number of latest tokens that are searched; nil means all.
    public var window: Int?
    /// A repetition does not extend across tokens that contain one of these texts.
    public var breakers: [String]

    /// llama.cpp's values by default.
    public init(
      multiplier: Double, base: Double = 1.75, allowedLength: Int = 2, window: Int? = nil,
      breakers: [String] = ["\n", ":", "\"", "*"]
    ) {
      self.multiplier = multiplier
      self.base = base
      self.allowedLength = allowedLength
      self.window = window
      self.breakers = breakers
    }
  }
}
