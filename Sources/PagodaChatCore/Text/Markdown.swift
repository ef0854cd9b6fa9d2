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
  /// A formula in TeX on lines of its own; `isClosed` is false until its closing mark arrives.
  case formula(tex: String, isClosed: Bool)
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
    var stream = MarkdownStream()
    stream.append(text)
    return stream.blocks
  }
}
