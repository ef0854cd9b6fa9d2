// MarkdownLine: classifies one line of Markdown.
import Foundation

enum MarkdownLine {
  struct Fence: Sendable {
    var mark: Character
    var length: Int
    var indent: Int
    var language: String?

    /// Whether the line closes a fence: at least as many of the same character, and nothing else.
    func isClosed(by line: Substring) -> Bool {
      let trimmed = line.trimmed
      return trimmed.count >= length && trimmed.allSatisfy { $0 == mark }
    }
  }

  static func fence(_ line: Substring) -> Fence? {
    let indent = line.prefix { $0 == " " }.count
    let rest = line.dropFirst(indent)
    guard let mark = rest.first, mark == "`" || mark == "~" else { return nil }
    let length = rest.prefix { $0 == mark }.count
    let info = rest.dropFirst(length).trimmed
    if length < 3 || (mark == "`" && info.contains("`")) { return nil }
    let language = info.split(whereSeparator: \.isWhitespace).first.map { String($0) }
    return Fence(mark: mark, length: length, indent: indent, language: language)
  }

  struct FormulaStart: Sendable {
    /// The mark that opened it, and the one that closes it.
    var open: String
    var close: String
    /// The rest of the line.
    var rest: Substring
  }

  /// A line that begins a formula; nil if the formula ends on it with other text behind, which makes it part of a sentence.
  static func formula(_ line: String) -> FormulaStart? {
    for (open, close) in [("$$", "$$"), ("\\[", "\\]")] where line.hasPrefix(open) {
      let rest = line.dropFirst(2)
      if let end = rest.firstRange(of: close), end.lowerBound == rest.startIndex || end.upperBound != rest.endIndex {
        return nil
      }
      return FormulaStart(open: open, close: close, rest: rest)
    }
    return nil
  }

  static func heading(_ line: String) -> MarkdownBlock? {
    let level = line.prefix { $0 == "#" }.count
    guard (1...6).contains(level), line.dropFirst(level).first == " " else { return nil }
    return .heading(level: level, text: line.dropFirst(level).trimmed)
  }

  static func isRule(_ line: String) -> Bool {
    let marks = line.filter { !$0.isWhitespace }
    guard let mark = marks.first, "-*_".contains(mark) else { return false }
    return marks.count >= 3 && marks.allSatisfy { $0 == mark }
  }

  static func item(_ line: Substring) -> MarkdownItem? {
    let indent = line.prefix { $0.isWhitespace }.reduce(0) { $0 + ($1 == "\t" ? 4 : 1) }
    let rest = line.drop { $0.isWhitespace }
    let depth = min(indent / 2, 8)
    if let mark = rest.first, "-*+".contains(mark), rest.dropFirst().first == " " {
      return MarkdownItem(marker: "•", depth: depth, text: rest.dropFirst(2).trimmed)
    }
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    let after = rest.dropFirst(digits.count)
    guard (1...9).contains(digits.count), let dot = after.first, ".)".contains(dot), after.dropFirst().first == " "
    else { return nil }
    return MarkdownItem(marker: "\(digits).", depth: depth, text: after.dropFirst(2).trimmed)
  }

  static func isTableRule(_ line: Substring) -> Bool {
    let columns = cells(line)
    return line.contains("-") && !columns.isEmpty
      && columns.allSatisfy { $0.contains("-") && $0.allSatisfy { "-:".contains($0) } }
  }

  static func cells(_ line: Substring) -> [String] {
    var row = line.trimmed[...]
    if row.first == "|" { row = row.dropFirst() }
    if row.last == "|" { row = row.dropLast() }
    return row.split(separator: "|", omittingEmptySubsequences: false).map(\.trimmed)
  }
}

extension Substring {
  var trimmed: String { trimmingCharacters(in: .whitespaces) }

  /// The line without up to `count` leading spaces.
  func dropIndent(_ count: Int) -> Substring {
    dropFirst(Swift.min(count, prefix { $0 == " " }.count))
  }
}
