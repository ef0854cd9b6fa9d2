// Sampling parameters from command lines.
import PagodaKit

extension SamplingField {
  var option: Option { Option(name, short: name == "max-tokens" ? "n" : nil, value: placeholder, help: help) }

  /// Sets the fields given on the command line; the last value wins, except for lists.
  package func apply(_ arguments: Arguments, to sampling: inout SamplingParameters) throws {
    guard let given = arguments.values[name], let last = given.last else { return }
    let option = "--" + name
    switch kind {
    case .integer(let range, let set): set(&sampling, Int(try integerValue(last, of: option, in: range)))
    case .number(let range, let isValid, let set):
      set(&sampling, try Self.checkNumber(Double(last), last, option, range, isValid))
    case .flag(let set): set(&sampling, true)
    case .strings(let set): set(&sampling, try Self.checkStops(given, option))
    case .seed:
      guard let seed = UInt64(last) else {
        throw UsageError("\(option) is '\(last)'; it must be a whole number of at least 0 and below 2^64")
      }
      sampling.seed = seed
    case .logitBias:
      for text in given {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let id = Int32(parts[0]), id >= 0, let bias = Double(parts[1]), bias.isFinite else {
          throw UsageError("\(option) is '\(text)'; it must be ID=BIAS, such as 42=-100")
        }
        sampling.logitBias[id] = bias
      }
    }
  }
}

extension SamplingField {
  /// The current value as the user would type it; nil for the model's own.
  package func value(in sampling: SamplingParameters) -> String? {
    func text(_ values: [String]) -> String? { values.isEmpty ? nil : values.map { "'\($0)'" }.joined(separator: " ") }
    return switch name {
    case "max-tokens": sampling.maximumTokens.map(String.init)
    case "min-tokens": String(sampling.minimumTokens)
    case "temperature": sampling.temperature.map { "\($0)" }
    case "top-k": sampling.topK.map(String.init)
    case "top-p": sampling.topP.map { "\($0)" }
    case "min-p": sampling.minP.map { "\($0)" }
    case "top-n-sigma": sampling.topNSigma.map { "\($0)" }
    case "xtc-probability": sampling.xtc.map { "\($0.probability)" }
    case "xtc-threshold": sampling.xtc.map { "\($0.threshold)" }
    case "dynatemp-range": sampling.dynamicTemperature.map { "\($0.range)" }
    case "dynatemp-exponent": sampling.dynamicTemperature.map { "\($0.exponent)" }
    case "dry-multiplier": sampling.dry.map { "\($0.multiplier)" }
    case "dry-base": sampling.dry.map { "\($0.base)" }
    case "dry-allowed-length": sampling.dry.map { "\($0.allowedLength)" }
    case "dry-penalty-last-n": sampling.dry.map { "\($0.window ?? -1)" }
    case "dry-sequence-breakers": sampling.dry.flatMap { text($0.breakers) }
    case "repetition-penalty": sampling.repetitionPenalty.map { "\($0)" }
    case "presence-penalty": sampling.presencePenalty.map { "\($0)" }
    case "frequency-penalty": sampling.frequencyPenalty.map { "\($0)" }
    case "seed": sampling.seed.map(String.init) ?? "random"
    case "ignore-eos": sampling.ignoresEndOfText ? "on" : "off"
    case "stop": text(sampling.stopStrings)
    case "bad-words": text(sampling.badWords)
    case "thinking-budget": sampling.thinkingBudget.map(String.init)
    case "top-logprobs": sampling.topLogProbabilities.map(String.init)
    case "logit-bias": text(sampling.logitBias.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
    default: nil
    }
  }
}
