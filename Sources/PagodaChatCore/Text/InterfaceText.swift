// InterfaceText: a text that people read in their language, with values in it; translations are in the app's string catalog.
import Foundation

/// A text of the interface, written in English at the place that shows it: `"\(count) files"` is looked up as `%@ files`.
/// Parameters of this type take literals only, so that every text reaches the catalog; `Tools/checks/app_files.py` fails
/// if the catalog lacks one.
public struct InterfaceText: ExpressibleByStringInterpolation, Sendable {
  /// The English text with `%@` in place of each value.
  public let key: String
  let values: [String]

  init(key: String, values: [String]) {
    self.key = key
    self.values = values
  }

  /// A text without values.
  public init(stringLiteral text: String) {
    key = Self.escaped(text)
    values = []
  }

  /// A text with values.
  public init(stringInterpolation text: StringInterpolation) {
    key = text.key
    values = text.values
  }

  /// Collects the key and the values.
  public struct StringInterpolation: StringInterpolationProtocol {
    var key = ""
    var values: [String] = []

    /// Nothing yet.
    public init(literalCapacity: Int, interpolationCount: Int) {}
    /// Words between values.
    public mutating func appendLiteral(_ text: String) { key += InterfaceText.escaped(text) }
    /// A value.
    public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      key += "%@"
      values.append(value.description)
    }
  }

  private static func escaped(_ text: String) -> String { text.replacingOccurrences(of: "%", with: "%%") }

  /// The text in the language that `lookup` gives for its key.
  public func text(_ lookup: (String) -> String) -> String {
    var (out, rest, next) = ("", lookup(key)[...], 0)
    while let mark = rest.firstIndex(of: "%") {
      out += rest[..<mark]
      rest = rest[rest.index(after: mark)...]
      if rest.first == "%" {
        out.append(rest.removeFirst())
        continue
      }
      var index = next
      let digits = rest.prefix(while: \.isNumber)
      if let number = Int(digits), rest[digits.endIndex...].hasPrefix("$@") {
        index = number - 1
        rest = rest[digits.endIndex...].dropFirst(2)
      } else if rest.first == "@" {
        next += 1
        rest = rest.dropFirst()
      } else {
        out += "%"
        continue
      }
      if values.indices.contains(index) { out += values[index] }
    }
    return out + rest
  }
}

/// A text of the interface in the user's language; English where there is no translation.
public func localized(_ text: InterfaceText) -> String {
  text.text { Bundle.main.localizedString(forKey: $0, value: $0, table: nil) }
}
