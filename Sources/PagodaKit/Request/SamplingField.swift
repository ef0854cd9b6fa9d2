// SamplingField: a table of the sampling parameters. JSON requests (`"max_tokens": 5`) are read here and command lines
// (`--max-tokens 5`) by the program, with the same ranges and the same messages.

/// A field of a request with an invalid value, described in one sentence.
package struct FieldError: Error, Equatable {
  package var field: String
  package var message: String

  package init(_ field: String, _ message: String) {
    self.field = field
    self.message = message
  }
}

package struct SamplingField: Sendable {
  package enum Kind: Sendable {
    case integer(ClosedRange<Int64>, @Sendable (inout SamplingParameters, Int) -> Void)
    // The range in words, the same range as a check, and the assignment.
    case number(String, @Sendable (Double) -> Bool, @Sendable (inout SamplingParameters, Double) -> Void)
    case flag(@Sendable (inout SamplingParameters, Bool) -> Void)
    case strings(@Sendable (inout SamplingParameters, [String]) -> Void)
    case seed
    case logitBias
  }

  /// The name with hyphens, as options are spelled.
  package var name: String
  /// The placeholder of the value in a help text; nil for a flag.
  package var placeholder: String?
  package var help: String
  package var kind: Kind

  /// The name in JSON.
  package var key: String { name.replacing("-", with: "_") }
}

extension SamplingField {
  private static let counts = Int64(0)...Int64(Int32.max)

  package static let all: [SamplingField] = [
    integer("max-tokens", "N", 1...Int64(Int32.max), "maximum tokens to generate (default: what fits in the context)") {
      $0.maximumTokens = $1
    },
    integer("min-tokens", "N", counts, "do not end before N tokens") { $0.minimumTokens = $1 },
    number(
      "temperature", "from 0 to 100", { $0 >= 0 && $0 <= 100 },
      "0 selects the likeliest token, higher values are more random (default: the model's)"
    ) {
      $0.temperature = $1
    },
    integer("top-k", "K", counts, "keep the K likeliest tokens, 0 keeps all") { $0.topK = $1 },
    number("top-p", "above 0 and at most 1", { $0 > 0 && $0 <= 1 }, "keep the likeliest tokens up to this sum") {
      $0.topP = $1
    },
    number("min-p", "from 0 to below 1", { $0 >= 0 && $0 < 1 }, "drop tokens below this share of the likeliest one") {
      $0.minP = $1
    },
    number(
      "top-n-sigma", "from 0 to 100", { $0 >= 0 && $0 <= 100 },
      "drop tokens more than X standard deviations below the likeliest one, 0 keeps all"
    ) {
      $0.topNSigma = $1
    },
    number("xtc-probability", "from 0 to 1", { $0 >= 0 && $0 <= 1 }, "how often to exclude the top choices") {
      $0.xtc = .init(probability: $1, threshold: $0.xtc?.threshold ?? 0.1)
    },
    number("xtc-threshold", "above 0 and at most 1", { $0 > 0 && $0 <= 1 }, "the probability of a top choice (0.1)") {
      $0.xtc = .init(probability: $0.xtc?.probability ?? 0, threshold: $1)
    },
    number("dynatemp-range", "from 0 to 100", { $0 >= 0 && $0 <= 100 }, "vary the temperature with the entropy") {
      $0.dynamicTemperature = .init(range: $1, exponent: $0.dynamicTemperature?.exponent ?? 1)
    },
    number("dynatemp-exponent", "above 0 and at most 10", { $0 > 0 && $0 <= 10 }, "shape of that variation (1)") {
      $0.dynamicTemperature = .init(range: $0.dynamicTemperature?.range ?? 0, exponent: $1)
    },
    number("dry-multiplier", "from 0 to 100", { $0 >= 0 && $0 <= 100 }, "penalty for repeating a sequence, 0 is off") {
      $0.dryOrOff.multiplier = $1
    },
    number("dry-base", "from 1 to 10", { $0 >= 1 && $0 <= 10 }, "its factor for each repeated token (1.75)") {
      $0.dryOrOff.base = $1
    },
    integer("dry-allowed-length", "N", 1...Int64(Int32.max), "repeated tokens without a penalty (2)") {
      $0.dryOrOff.allowedLength = $1
    },
    integer("dry-penalty-last-n", "N", -1...Int64(Int32.max), "latest tokens that are searched, -1 is all") {
      $0.dryOrOff.window = $1 < 0 ? nil : $1
    },
    SamplingField(
      name: "dry-sequence-breakers", placeholder: "TEXT", help: "a repetition ends at TEXT; may be repeated",
      kind: .strings { $0.dryOrOff.breakers = $1 }),
    number(
      "repetition-penalty", "above 0 and at most 10", { $0 > 0 && $0 <= 10 },
      "above 1: tokens of prompt and answer come less often"
    ) {
      $0.repetitionPenalty = $1
    },
    number("presence-penalty", "from -2 to 2", { abs($0) <= 2 }, "above 0: tokens of the answer come less often") {
      $0.presencePenalty = $1
    },
    number("frequency-penalty", "from -2 to 2", { abs($0) <= 2 }, "the same, for each time a token was used") {
      $0.frequencyPenalty = $1
    },
    SamplingField(
      name: "logit-bias", placeholder: "ID=BIAS", help: "add BIAS to a token's logit; may be repeated", kind: .logitBias
    ),
    SamplingField(name: "seed", placeholder: "N", help: "the same seed gives the same answer", kind: .seed),
    SamplingField(
      name: "ignore-eos", help: "continue after the model's end-of-text token",
      kind: .flag { $0.ignoresEndOfText = $1 }),
    SamplingField(
      name: "stop", placeholder: "TEXT", help: "end before TEXT; may be repeated",
      kind: .strings { $0.stopStrings = $1 }),
    SamplingField(
      name: "bad-words", placeholder: "TEXT", help: "never generate TEXT; may be repeated",
      kind: .strings { $0.badWords = $1 }),
    integer("thinking-budget", "N", counts, "close the thinking after N tokens") { $0.thinkingBudget = $1 },
    integer("top-logprobs", "N", 0...20, "report log probabilities: of each token and the N likeliest") {
      $0.topLogProbabilities = $1
    },
  ]

  private static func integer(
    _ name: String, _ value: String, _ range: ClosedRange<Int64>, _ help: String,
    _ set: @escaping @Sendable (inout SamplingParameters, Int) -> Void
  ) -> SamplingField {
    SamplingField(name: name, placeholder: value, help: help, kind: .integer(range, set))
  }

  private static func number(
    _ name: String, _ range: String, _ isValid: @escaping @Sendable (Double) -> Bool, _ help: String,
    _ set: @escaping @Sendable (inout SamplingParameters, Double) -> Void
  ) -> SamplingField {
    SamplingField(name: name, placeholder: "X", help: help, kind: .number(range, isValid, set))
  }
}

extension SamplingParameters {
  /// Fields of a request are set one by one, in any order.
  fileprivate var dryOrOff: DRY {
    get { dry ?? DRY(multiplier: 0) }
    set { dry = newValue }
  }
}

extension SamplingField {
  /// Sets the field from a JSON request; null means not given.
  package func apply(_ value: JSONValue, to sampling: inout SamplingParameters) throws(FieldError) {
    if value == .null { return }
    let refused = FieldError(key, "\(key) is \(value.shortText), which has the wrong type")
    switch kind {
    case .integer(let range, let set):
      guard let number = value.intValue, range.contains(number) else {
        throw FieldError(key, "\(key) is \(value.shortText); it must be a whole number \(words(for: range))")
      }
      set(&sampling, Int(number))
    case .number(let range, let isValid, let set):
      set(&sampling, try Self.checkNumber(value.doubleValue, value.shortText, key, range, isValid))
    case .flag(let set):
      guard let flag = value.boolValue else { throw refused }
      set(&sampling, flag)
    case .strings(let set):
      let list = value.stringValue.map { [$0] } ?? value.arrayValue?.compactMap(\.stringValue)
      guard let list, list.count == value.arrayValue?.count ?? 1 else { throw refused }
      set(&sampling, try Self.checkStops(list, key))
    case .seed:
      if case .unsigned(let seed) = value {
        sampling.seed = seed
      } else if let seed = value.intValue, seed >= 0 {
        sampling.seed = UInt64(seed)
      } else {
        throw FieldError(key, "\(key) is \(value.shortText); it must be a whole number of at least 0 and below 2^64")
      }
    case .logitBias:
      guard let members = value.objectValue else { throw refused }
      if members.count > 65536 {
        throw FieldError(key, "\(key) has \(members.count) members; at most 65536 are allowed")
      }
      for member in members {
        guard let id = Int32(member.key), id >= 0, let bias = member.value.doubleValue else {
          throw FieldError(key, "\(key) has '\(member.key.prefix(40))'; its members must be token ids with numbers")
        }
        sampling.logitBias[id] = bias
      }
    }
  }

  package static func checkNumber(
    _ value: Double?, _ text: String, _ name: String, _ range: String, _ isValid: (Double) -> Bool
  ) throws(FieldError) -> Double {
    guard let value, value.isFinite, isValid(value) else {
      throw FieldError(name, "\(name) is '\(text)'; it must be a number \(range)")
    }
    return value
  }

  package static func checkStops(_ strings: [String], _ name: String) throws(FieldError) -> [String] {
    if strings.contains("") { throw FieldError(name, "\(name) is empty; it must be at least one character") }
    if strings.count > 64 { throw FieldError(name, "\(name) has \(strings.count) strings; at most 64 are allowed") }
    if let long = strings.first(where: { $0.utf8.count > 4096 }) {
      throw FieldError(name, "\(name) has a string of \(long.utf8.count) bytes; at most 4096 are allowed")
    }
    return strings
  }
}

extension JSONValue {
  /// The text for messages, truncated if long.
  package var shortText: String {
    switch self {
    case .array: "an array"
    case .object: "an object"
    default: text.count > 60 ? text.prefix(60) + "..." : text
    }
  }
}

/// Describes a range in a message, without an upper limit that comes only from the integer type.
package func words(for range: ClosedRange<Int64>) -> String {
  range.upperBound >= Int64(Int32.max)
    ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
}
