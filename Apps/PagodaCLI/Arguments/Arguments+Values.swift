// Typed values of a command line; a value out of range is refused with an error message.
import PagodaKit

extension Arguments {
  package func has(_ name: String) -> Bool { values[name] != nil }

  /// The last value given.
  package func string(_ name: String) -> String? { values[name]?.last }

  package func integer(_ name: String, in range: ClosedRange<Int64>) throws -> Int64? {
    try string(name).map { try integerValue($0, of: "--" + name, in: range) }
  }

  package func choice(_ name: String, of choices: [String]) throws -> String? {
    guard let value = string(name) else { return nil }
    guard choices.contains(value) else {
      throw UsageError("--\(name) is '\(value)'; it must be one of \(choices.joined(separator: ", "))")
    }
    return value
  }

  /// One case of an enumeration, by its raw value.
  package func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ name: String, _ type: Value.Type = Value.self
  ) throws -> Value? {
    try choice(name, of: Value.allCases.map(\.rawValue)).flatMap { Value(rawValue: $0) }
  }

  /// The same; `auto` returns nil.
  package func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ name: String, orAutomatic type: Value.Type
  ) throws -> Value? {
    try choice(name, of: ["auto"] + Value.allCases.map(\.rawValue)).flatMap { Value(rawValue: $0) }
  }

  /// A size in bytes: 1073741824, 512MiB, 2GB.
  package func bytes(_ name: String, atLeast minimum: Int64 = 1) throws -> Int64? {
    guard let value = string(name) else { return nil }
    guard let bytes = parseBytes(value), bytes >= minimum else {
      throw UsageError("--\(name) is '\(value)'; it must be a size such as 512MiB, 2GB or a number of bytes")
    }
    return bytes
  }

  /// Token ids separated by commas or spaces.
  package func tokenIDs(_ name: String) throws -> [Int32]? {
    try string(name).map { try parseTokenIDs($0, of: "--" + name) }
  }

  /// - Parameter hint: a suggestion for the user.
  package func refusePositionals(hint: String? = nil) throws {
    guard let word = positionals.first else { return }
    throw UsageError("unexpected argument '\(word)'" + (hint.map { "; " + $0 } ?? ""))
  }
}

package func integerValue(_ text: String, of name: String, in range: ClosedRange<Int64>) throws -> Int64 {
  guard let value = Int64(text), range.contains(value) else {
    throw UsageError("\(name) is '\(text)'; it must be a whole number \(words(for: range))")
  }
  return value
}

package func parseTokenIDs(_ text: String, of name: String) throws -> [Int32] {
  try text.split { $0 == "," || $0.isWhitespace }.map {
    Int32(try integerValue(String($0), of: "an id in \(name)", in: 0...Int64(Int32.max)))
  }
}

/// Nil if the text is not a size, or exceeds Int64.
package func parseBytes(_ text: String) -> Int64? {
  let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
  let units: [String: Double] = [
    "": 1, "b": 1, "k": 1024, "kib": 1024, "kb": 1e3, "m": 1_048_576, "mib": 1_048_576, "mb": 1e6,
    "g": 1_073_741_824, "gib": 1_073_741_824, "gb": 1e9, "t": 1_099_511_627_776, "tib": 1_099_511_627_776, "tb": 1e12,
  ]
  let unit = text.dropFirst(digits.count).drop { $0 == " " }.lowercased()
  guard let number = Double(digits), let factor = units[unit] else { return nil }
  return Int64(exactly: (number * factor).rounded(.down))
}
