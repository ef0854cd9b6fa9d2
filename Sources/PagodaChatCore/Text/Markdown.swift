// MarkdownBlock: splits an answer into blocks that are rendered differently; accepts incomplete, streaming text.
import Foundation

/// A block of Markdown. Inline markup (emphasis, links, code) is left as written.
public enum MarkdownBlock: Hashable, Sendable {
  /// Consecutive lines.
  case paragraph(String)
  /// A heading of level 1 to 6.
  case heading(level: Int, text: String)
  /// A code block; `isClosed` is false until its closing fence arrives.
  case code(language: String?, text: String, isClosed: Bool)
  /// List items in order; `marker` is `•` or a number with a dot, `depth` counts from 0.
  case list([MarkdownItem])
  /// A block quote, without its markers.
  case quote(String)
  /// A table; rows are as wide as the header.
  case table(header: [String], rows: [[String]])
  /// A horizontal rule.
  case rule
}

/// An item of a list.
public struct MarkdownItem: Hashable, Sendable {
  /// `•` or a number with a dot.
  public var marker: String
  /// Nesting depth, from 0.
  public var depth: Int
  /// The item's text.
  public var text: String

  /// An item of a list.
  public init(marker: String, depth: Int, text: String) {
    self.marker = marker
    self.depth = depth
    self.text = text
  }
}

extension MarkdownBlock {
  /// The blocks of a text. Every character is in one of them, except markers and blank lines.
  public static func split(_ text: String) -> [MarkdownBlock] {
    var splitter = MarkdownSplitter(lines: text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline))
    return splitter.run()
  }
}

private struct MarkdownSplitter {
  let lines: [Substring]
  var index = 0
  var blocks: [MarkdownBlock] = []
  var paragraph: [Substring] = []

  mutating func run() -> [MarkdownBlock] {
    while index < lines.count {
      let line = lines[index]
      let trimmed = line.trimmed
      if let fence = MarkdownLine.fence(line) {
        take(code(fence))
      } else if trimmed.isEmpty {
        flush()
        index += 1
      } else if let heading = MarkdownLine.heading(trimmed) {
        take(heading)
        index += 1
      } else if MarkdownLine.isRule(trimmed) {
        take(.rule)
        index += 1
      } else if trimmed.hasPrefix(">") {
        take(.quote(run { $0.trimmed.hasPrefix(">") }.map { $0.trimmed.dropFirst().trimmed }.joined(separator: "\n")))
      } else if MarkdownLine.item(line) != nil {
        take(list())
      } else if let table = table() {
        take(table)
      } else {
        paragraph.append(line)
        index += 1
      }
    }
    flush()
    return blocks
  }

  private mutating func flush() {
    if !paragraph.isEmpty { blocks.append(.paragraph(paragraph.map(\.trimmed).joined(separator: "\n"))) }
    paragraph = []
  }

  private mutating func take(_ block: MarkdownBlock) {
    flush()
    blocks.append(block)
  }

  private mutating func run(while condition: (Substring) -> Bool) -> [Substring] {
    let begin = index
    while index < lines.count, condition(lines[index]) { index += 1 }
    return Array(lines[begin..<index])
  }

  private mutating func code(_ fence: MarkdownLine.Fence) -> MarkdownBlock {
    index += 1
    var isClosed = false
    let body = run { !fence.isClosed(by: $0) }
    if index < lines.count {
      isClosed = true
      index += 1
    }
    let text = body.map { String($0.dropIndent(fence.indent)) }.joined(separator: "\n")
    return .code(language: fence.language, text: text, isClosed: isClosed)
  }

  /// Items with their continuation lines. A blank line ends the list unless another item follows.
  private mutating func list() -> MarkdownBlock {
    var items: [MarkdownItem] = []
    while index < lines.count {
      let line = lines[index]
      if let item = MarkdownLine.item(line) {
        items.append(item)
      } else if line.trimmed.isEmpty {
        guard index + 1 < lines.count, MarkdownLine.item(lines[index + 1]) != nil else { break }
      } else if line.first?.isWhitespace == true, MarkdownLine.fence(line) == nil {
        items[items.count - 1].text += "\n" + line.trimmed
      } else {
        break
      }
      index += 1
    }
    return .list(items)
  }

  private mutating func table() -> MarkdownBlock? {
    guard index + 1 < lines.count, lines[index].contains("|"), MarkdownLine.isTableRule(lines[index + 1]) else {
      return nil
    }
    let header = MarkdownLine.cells(lines[index])
    index += 2
    let rows = run { $0.contains("|") }.map { line in
      let cells = MarkdownLine.cells(line)
      return (0..<header.count).map { $0 < cells.count ? cells[$0] : "" }
    }
    return .table(header: header, rows: rows)
  }
}
