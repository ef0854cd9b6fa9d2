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
