// SamplingFields: the sampling options as one table, read from command lines (`--max-tokens 5`) and from JSON requests
// (`"max_tokens": 5`) with the same ranges and the same sentences.
import PagodaKit

package struct SamplingField: Sendable {
  enum Kind: Sendable {
    case integer(ClosedRange<Int64>, @Sendable (inout SamplingParameters, Int) -> Void)
    // The range in words, the same as a test, and what to set.
    case number(String, @Sendable (Double) -> Bool, @Sendable (inout SamplingParameters, Double) -> Void)
    case flag(@Sendable (inout SamplingParameters, Bool) -> Void)
    case strings(@Sendable (inout SamplingParameters, [String]) -> Void)
    case seed
    case logitBias
  }

  var option: Option
  var kind: Kind

  /// The name in JSON.
  var key: String { option.name.replacing("-", with: "_") }
}

extension SamplingField {
  private static let counts = Int64(0)...Int64(Int32.max)

  static let all: [SamplingField] = [
    integer("max-tokens", "N", 1...Int64(Int32.max), "most tokens to generate (default: what fits, 2048 at most)") {
      $0.maximumTokens = $1
    },
    integer("min-tokens", "N", counts, "do not end before N tokens") { $0.minimumTokens = $1 },
    number(
      "temperature", "of at least 0", { $0 >= 0 }, "0 takes the likeliest token, more is freer (default: the model's)"
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
    number("repetition-penalty", "above 0", { $0 > 0 }, "above 1: tokens of prompt and answer come less often") {
      $0.repetitionPenalty = $1
    },
    number("presence-penalty", "from -2 to 2", { abs($0) <= 2 }, "above 0: tokens of the answer come less often") {
      $0.presencePenalty = $1
    },
    number("frequency-penalty", "from -2 to 2", { abs($0) <= 2 }, "the same, for each time a token was used") {
      $0.frequencyPenalty = $1
    },
    SamplingField(
      option: Option("logit-bias", value: "ID=BIAS", help: "add BIAS to a token's logit; may be repeated"),
      kind: .logitBias),
    SamplingField(option: Option("seed", value: "N", help: "the same seed gives the same answer"), kind: .seed),
    SamplingField(
      option: Option("ignore-eos", help: "go on after the model's end-of-text token"),
      kind: .flag { $0.ignoresEndOfText = $1 }),
    SamplingField(
      option: Option("stop", value: "TEXT", help: "end before TEXT; may be repeated"),
      kind: .strings { $0.stopStrings = $1 }),
    integer("thinking-budget", "N", counts, "close the thinking after N tokens") { $0.thinkingBudget = $1 },
    integer("top-logprobs", "N", 0...20, "report log probabilities: of each token and the N likeliest") {
      $0.topLogProbabilities = $1
    },
  ]

  private static func integer(
    _ name: String, _ value: String, _ range: ClosedRange<Int64>, _ help: String,
    _ set: @escaping @Sendable (inout SamplingParameters, Int) -> Void
  ) -> SamplingField {
    SamplingField(option: Option(name, value: value, help: help), kind: .integer(range, set))
  }

  private static func number(
    _ name: String, _ range: String, _ isValid: @escaping @Sendable (Double) -> Bool, _ help: String,
    _ set: @escaping @Sendable (inout SamplingParameters, Double) -> Void
  ) -> SamplingField {
    SamplingField(option: Option(name, value: "X", help: help), kind: .number(range, isValid, set))
  }
}

extension SamplingField {
  /// Sets what the command line says; the last value wins, except for lists.
  package func apply(_ arguments: Arguments, to sampling: inout SamplingParameters) throws {
    guard let given = arguments.values[option.name], let last = given.last else { return }
    let name = "--" + option.name
    switch kind {
    case .integer(let range, let set): set(&sampling, Int(try integerValue(last, of: name, in: range)))
    case .number(let range, let isValid, let set):
      set(&sampling, try checkNumber(Double(last), last, name, range, isValid))
    case .flag(let set): set(&sampling, true)
    case .strings(let set): set(&sampling, try checkStops(given, name))
    case .seed:
      guard let seed = UInt64(last) else {
        throw UsageError("\(name) is '\(last)'; it must be a whole number of at least 0 and below 2^64")
      }
      sampling.seed = seed
    case .logitBias:
      for text in given {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let id = Int32(parts[0]), id >= 0, let bias = Double(parts[1]), bias.isFinite else {
          throw UsageError("\(name) is '\(text)'; it must be ID=BIAS, such as 42=-100")
        }
        sampling.logitBias[id] = bias
      }
    }
  }

  /// Sets what a JSON request says; null means not given.
  package func apply(_ value: JSONValue, to sampling: inout SamplingParameters) throws(UsageError) {
    if value == .null { return }
    let refused = UsageError("\(key) is \(value.text), which is not the kind of value it takes")
    switch kind {
    case .integer(let range, let set):
      guard let number = value.intValue, range.contains(number) else {
        throw UsageError("\(key) is \(value.text); it must be a whole number \(words(for: range))")
      }
      set(&sampling, Int(number))
    case .number(let range, let isValid, let set):
      set(&sampling, try checkNumber(value.doubleValue, value.text, key, range, isValid))
    case .flag(let set):
      guard let flag = value.boolValue else { throw refused }
      set(&sampling, flag)
    case .strings(let set):
      let list = value.stringValue.map { [$0] } ?? value.arrayValue?.compactMap(\.stringValue)
      guard let list, list.count == value.arrayValue?.count ?? 1 else { throw refused }
      set(&sampling, try checkStops(list, key))
    case .seed:
      if case .unsigned(let seed) = value {
        sampling.seed = seed
      } else if let seed = value.intValue, seed >= 0 {
        sampling.seed = UInt64(seed)
      } else {
        throw UsageError("\(key) is \(value.text); it must be a whole number of at least 0 and below 2^64")
      }
    case .logitBias:
      guard let members = value.objectValue else { throw refused }
      for member in members {
        guard let id = Int32(member.key), id >= 0, let bias = member.value.doubleValue else {
          throw UsageError("\(key) has '\(member.key)'; its members must be token ids with numbers")
        }
        sampling.logitBias[id] = bias
      }
    }
  }

  private func checkNumber(
    _ value: Double?, _ text: String, _ name: String, _ range: String, _ isValid: (Double) -> Bool
  ) throws(UsageError) -> Double {
    guard let value, value.isFinite, isValid(value) else {
      throw UsageError("\(name) is '\(text)'; it must be a number \(range)")
    }
    return value
  }

  private func checkStops(_ strings: [String], _ name: String) throws(UsageError) -> [String] {
    if strings.contains("") { throw UsageError("\(name) is empty; it must be at least one character") }
    return strings
  }
}
