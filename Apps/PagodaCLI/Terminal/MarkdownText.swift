// MarkdownText: Markdown that arrives in chunks, for a terminal: words are wrapped, tables drawn, code coloured.

/// Renders a stream of text. Prose and code are written as they arrive; a table is held back until its last row, because
/// its columns depend on all rows. All other marks stay as the model wrote them. Control characters must have been
/// removed.
package struct MarkdownText {
  private enum Kind { case unknown, prose, code, fence, table }
  private struct Fence {
    var mark: Character
    var count: Int
  }

  private let width: Int
  private var wrap: WordWrap
  private var kind = Kind.unknown  // of the current line
  private var line = ""  // the part of the current line that is held back
  private var rows: [String] = []  // lines before it that are held back: they may be a table
  private var fence: Fence?  // the open one
  private var code = CodeColours(language: "")

  /// - Parameter width: columns of a line.
  package init(width: Int) {
    self.width = width
    wrap = WordWrap(width: width)
  }

  /// The number of complete rows, with the heading, of a table that is held back; nil if there is none.
  package var heldRows: Int? { Table(rows) == nil ? nil : rows.count - 1 }

  /// Text that can be written now.
  package mutating func add(_ text: String) -> String {
    var out = ""
    for character in text { out += character.isNewline ? endLine() : take(character) }
    return out
  }

  /// Text that was held back, without a line break at its end.
  package mutating func finish() -> String {
    defer { (kind, line, rows) = (.unknown, "", []) }
    switch kind {
    case .table:
      rows.append(line)
      let table = drawRows()
      return String(table.reversed().drop(while: \.isNewline).reversed())
    case .fence: return drawRows() + Style.dimmed(line)
    case .code: return code.finish()
    case .prose, .unknown: return drawRows() + wrap.add(line) + wrap.finish()
    }
  }

  private mutating func take(_ character: Character) -> String {
    switch kind {
    case .prose: return wrap.add(String(character))
    case .code: return code.add(String(character))
    case .fence:
      line.append(character)
      return ""
    case .table:
      line.append(character)
      // Only a line of dashes makes the line before it a heading; other text need not wait.
      return rows.count == 1 && !"|:- \t".contains(character) ? giveUpTable() : ""
    case .unknown:
      line.append(character)
      return decide()
    }
  }

  /// Finds out what the current line is, from its first characters.
  private mutating func decide() -> String {
    guard let first = line.first(where: { $0 != " " }) else { return "" }
    let body = line.drop { $0 == " " }
    if fence == nil && first == "|" {
      kind = .table
      return ""
    }
    let isMark = fence.map { $0.mark == first } ?? "`~".contains(first)
    if isMark && body.allSatisfy({ $0 == first }) {
      if body.count >= fence?.count ?? 3 { kind = .fence }
      return ""
    }
    defer { line = "" }
    if fence != nil {
      kind = .code
      return code.add(line)
    }
    kind = .prose
    return drawRows() + wrap.add(line)
  }

  private mutating func endLine() -> String {
    defer { (kind, line) = (.unknown, "") }
    switch kind {
    case .prose: return wrap.add("\n")
    case .code: return code.add("\n")
    case .unknown: return fence == nil ? drawRows() + wrap.add(line + "\n") : code.add(line + "\n")
    case .fence: return endFence()
    case .table:
      rows.append(line)
      return rows.count == 2 && Table(rows) == nil ? drawRows() : ""
    }
  }

  private mutating func endFence() -> String {
    let body = line.drop { $0 == " " }
    let mark = body.first ?? "`"
    let info = body.drop { $0 == mark }.drop { $0 == " " }
    if fence != nil {
      guard info.allSatisfy(\.isWhitespace) else { return code.add(line + "\n") }
      fence = nil
      return code.finish() + Style.dimmed(line) + "\n"
    }
    if mark == "`" && info.contains("`") { return drawRows() + line + "\n" }  // code within a line
    fence = Fence(mark: mark, count: body.prefix { $0 == mark }.count)
    code = CodeColours(language: String(info.prefix { !$0.isWhitespace && $0 != "{" && $0 != "," }))
    return drawRows() + Style.dimmed(line) + "\n"
  }

  /// The lines before this one are no table, and this one is prose.
  private mutating func giveUpTable() -> String {
    defer { line = "" }
    kind = .prose
    return drawRows() + wrap.add(line)
  }

  /// What the held lines are: a table, or prose.
  private mutating func drawRows() -> String {
    defer { rows = [] }
    if let table = Table(rows), let drawing = table.drawing(width: width) { return drawing }
    return rows.reduce(into: "") { $0 += wrap.add($1 + "\n") }
  }
}
