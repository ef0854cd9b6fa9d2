// APIKey: a key with a name and limits.
import Foundation

/// A key with a name and limits.
///
/// ```swift
/// options.namedKeys = try APIKey.parse(String(contentsOfFile: "keys.txt", encoding: .utf8), from: "keys.txt")
/// ```
public struct APIKey: Sendable, Hashable {
  /// The holder's name in logs; never the key itself.
  public var name: String
  /// The key that requests carry.
  public var key: String
  /// Maximum requests per minute; nil means no limit.
  public var requestsPerMinute: Int?
  /// Maximum tokens per minute, of prompts and answers; nil means no limit.
  public var tokensPerMinute: Int?
  /// Shares of the engine: a key with 2 gets twice as much as one with 1 while both have work.
  public var share = 1
  /// The most urgent `priority` that its requests may have; lower values run first.
  public var priority = 0
  /// Whether the holder may download, copy and delete models over Ollama's API.
  public var isAdmin = false

  /// A key without limits.
  public init(name: String, key: String) {
    self.name = name
    self.key = key
  }

  /// Reads `name key [requests/min tokens/min share priority admin]`, one per line; `-` means the default, and `#` starts a
  /// comment.
  public static func parse(_ text: String, from source: String) throws -> [APIKey] {
    var keys: [APIKey] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
      if words.isEmpty || words[0].hasPrefix("#") { continue }
      func number(_ column: Int) throws -> Int? {
        guard column < words.count, words[column] != "-" else { return nil }
        guard let number = Int(words[column]), number > 0, number <= 1_000_000_000 else {
          throw ServerError("\(source), line \(index + 1): a limit must be a number above 0, or -")
        }
        return number
      }
      guard (2...7).contains(words.count) else {
        throw ServerError(
          "\(source), line \(index + 1): expected `name key [requests/min tokens/min share priority admin]`")
      }
      var key = APIKey(name: words[0], key: words[1])
      key.requestsPerMinute = try number(2)
      key.tokensPerMinute = try number(3)
      key.share = try number(4) ?? 1
      if key.share > 64 { throw ServerError("\(source), line \(index + 1): a share is at most 64") }
      if words.count > 5, words[5] != "-" {
        guard let priority = Int32(words[5]) else {
          throw ServerError("\(source), line \(index + 1): a priority must be a number, or -")
        }
        key.priority = Int(priority)
      }
      if words.count > 6 {
        guard ["admin", "-"].contains(words[6]) else {
          throw ServerError("\(source), line \(index + 1): the last column must be admin, or -")
        }
        key.isAdmin = words[6] == "admin"
      }
      if keys.contains(where: { $0.name == key.name }) {
        throw ServerError("\(source), line \(index + 1): the name \(key.name) occurs twice")
      }
      if keys.contains(where: { $0.key == key.key }) {
        throw ServerError("\(source), line \(index + 1): \(key.name) has the key of another name")
      }
      keys.append(key)
    }
    return keys
  }
}
