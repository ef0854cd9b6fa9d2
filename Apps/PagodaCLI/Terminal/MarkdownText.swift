// MarkdownText: Markdown that arrives in chunks, for a terminal: wrapped words, styles, lists, drawn tables, coloured code.

/// Renders a stream of text. Prose and code are written as they arrive; a table is held back until its last row, because
/// its columns depend on all rows. Links and formulas stay as the model wrote them. Control characters must have been
/// removed.
package struct MarkdownText {
  private enum Kind { case unknown, prose, code, fence, table }
  private struct Fence {
    var mark: Character
    var count: Int
  }

  private let width: Int
  private var wrap: WordWrap
  private var inline = InlineMarks()
  private var endOfStyle = ""  // of a heading
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
    case .prose, .unknown: return drawRows() + (kind == .unknown ? short() : "") + endProse() + wrap.finish()
    }
  }

  private mutating func take(_ character: Character) -> String {
    switch kind {
    case .prose: return prose(String(character))
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
    if fence != nil {
      defer { line = "" }
      kind = .code
      return code.add(line)
    }
    guard let mark = LineMark(line) else { return "" }
    defer { line = "" }
    kind = .prose
    return drawRows() + begin(mark)
  }

  /// The start of a line of prose: its mark, or the text that is none.
  private mutating func begin(_ mark: LineMark) -> String {
    switch mark {
    case .none: return prose(line)
    case .heading(let level):
      inline = InlineMarks(isBold: true)
      wrap.style(level == 1 ? "\u{1B}[1;4m" : "\u{1B}[1m")
      endOfStyle = level == 1 ? "\u{1B}[22;24m" : "\u{1B}[22m"
      return ""
    case .item(let shown):
      defer { wrap.margin = String(repeating: " ", count: columnWidth(of: shown)) }
      return wrap.add(shown)
    case .quotation:
      defer { wrap.margin = Self.quotation }
      return wrap.add(Self.quotation)
    }
  }

  private static let quotation = "│ "

  /// A line that has ended before it was clear what it is.
  private mutating func short() -> String {
    if LineMark.isRule(line) { return Style.dimmed(String(repeating: "─", count: width)) }
    return begin(LineMark(line + " ") ?? .none)
  }

  private mutating func prose(_ text: String) -> String { written(text.flatMap { inline.add($0) }) }

  private mutating func endProse() -> String {
    let out = written(inline.finish())
    if !endOfStyle.isEmpty { wrap.style(endOfStyle) }
    (inline, endOfStyle) = (InlineMarks(), "")
    return out
  }

  private mutating func written(_ pieces: [InlineMarks.Piece]) -> String {
    var out = ""
    for piece in pieces {
      switch piece {
      case .text(let text): out += wrap.add(text)
      case .style(let sequence): wrap.style(sequence)
      }
    }
    return out
  }

  private mutating func endLine() -> String {
    defer { (kind, line) = (.unknown, "") }
    switch kind {
    case .prose: return endProse() + wrap.add("\n")
    case .code: return code.add("\n")
    case .unknown where fence != nil: return code.add(line + "\n")
    case .unknown: return drawRows() + short() + endProse() + wrap.add("\n")
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
    return drawRows() + prose(line)
  }

  /// What the held lines are: a table, or prose.
  private mutating func drawRows() -> String {
    defer { rows = [] }
    if let table = Table(rows), let drawing = table.drawing(width: width) { return drawing }
    return rows.reduce(into: "") { $0 += prose($1) + endProse() + wrap.add("\n") }
  }
}
