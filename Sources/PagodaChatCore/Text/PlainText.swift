// A message without marks: sentences to read aloud, and one text across all blocks to select from.
import Foundation

/// A piece of a message as it is selected: all of its blocks are one text.
public struct SelectablePiece: Hashable, Sendable {
  /// How a piece looks.
  public enum Style: Hashable, Sendable {
    /// Text with inline Markdown.
    case body
    /// A heading, with inline Markdown.
    case heading
    /// Code or a table, verbatim, in letters of one width.
    case verbatim
  }

  /// Its text.
  public var text: String
  /// How it looks.
  public var style: Style
}

extension MarkdownBlocks {
  /// The message as pieces of one text, with a blank line between them.
  public var selectablePieces: [SelectablePiece] {
    compactMap { block in
      switch block {
      case .paragraph(let text), .quote(let text): SelectablePiece(text: text, style: .body)
      case .heading(_, let text): SelectablePiece(text: text, style: .heading)
      case .code(_, let text, _): SelectablePiece(text: text, style: .verbatim)
      case .formula(let tex, _): SelectablePiece(text: Formula(tex: tex).line, style: .verbatim)
      case .table(let header, let rows):
        SelectablePiece(text: Self.columns((header.isEmpty ? [] : [header]) + rows), style: .verbatim)
      case .list(let items):
        SelectablePiece(
          text: items.map { String(repeating: "  ", count: $0.depth) + "\($0.marker) \($0.text)" }.joined(
            separator: "\n"),
          style: .body)
      case .rule: nil
      }
    }
  }

  /// Cells in columns of equal width.
  private static func columns(_ rows: [[String]]) -> String {
    var widths: [Int] = []
    for row in rows {
      for (index, cell) in row.enumerated() {
        if index == widths.count { widths.append(0) }
        widths[index] = Swift.max(widths[index], cell.count)
      }
    }
    return rows.map { row in
      let cells = row.enumerated().map { $1 + String(repeating: " ", count: widths[$0] - $1.count) }
      return cells.joined(separator: "  ").trimmingCharacters(in: .whitespaces)
    }.joined(separator: "\n")
  }

  /// What is read aloud, a sentence or a line at a time. Code is announced and not read.
  public var spokenSentences: [String] {
    flatMap { block -> [String] in
      switch block {
      case .paragraph(let text), .quote(let text), .heading(_, let text): text.plainText.sentences
      case .list(let items): items.flatMap(\.text.plainText.sentences)
      case .table(let header, let rows):
        ((header.isEmpty ? [] : [header]) + rows).map { $0.map(\.plainText).joined(separator: ", ") }
      case .formula(let tex, _): [Formula(tex: tex).line]
      case .code: [localized("Here is code.")]
      case .rule: []
      }
    }
  }
}

extension String {
  /// The text without inline Markdown: links by their names, formulas on the line.
  var plainText: String {
    var (out, rest) = ("", replacingFormulas()[...])
    while let character = rest.first {
      rest = rest.dropFirst()
      switch character {
      case "\\" where rest.first.map { $0.isASCII && $0.isPunctuation || $0.isSymbol } == true:
        out.append(rest.removeFirst())
      case "`": continue
      case "~" where rest.first == "~": rest = rest.dropFirst()
      case "*":
        // Marks stick to a word on one side; with spaces on both they are signs.
        if out.last?.isWhitespace == true, rest.first?.isWhitespace == true { out.append(character) }
      case "_":
        if out.last.map(\.isPartOfWord) == true, rest.first.map(\.isPartOfWord) == true { out.append(character) }
      case "!" where rest.first == "[": continue
      case "[":
        if let (name, end) = rest.linkName {
          out += String(name).plainText
          rest = rest[end...]
        } else {
          out.append(character)
        }
      default: out.append(character)
      }
    }
    return out
  }

  /// The text in sentences: up to a full stop, a question or exclamation mark, or a line break.
  var sentences: [String] {
    var (found, open) = ([String](), "")
    for (index, character) in zip(indices, self) {
      open.append(character)
      let after = self.index(after: index)
      let endsWord = after == endIndex || self[after].isWhitespace
      if character.isNewline || "。！？".contains(character) || (".!?".contains(character) && endsWord) {
        found.append(open)
        open = ""
      }
    }
    return (found + [open]).map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter {
      $0.contains(where: \.isPartOfWord)
    }
  }
}

extension Character {
  fileprivate var isPartOfWord: Bool { isLetter || isNumber }
}

extension Substring {
  /// The name of a link whose `[` was just read, and the index after the link.
  fileprivate var linkName: (name: Substring, end: Index)? {
    guard let close = firstIndex(of: "]"), self[close...].hasPrefix("]("), let end = self[close...].firstIndex(of: ")")
    else {
      return nil
    }
    return (self[..<close], index(after: end))
  }
}
