// MarkdownStream: Markdown that arrives in pieces; each line is parsed once, whatever comes after it.

/// Markdown that arrives in pieces. A line is parsed once, when its end has come; only the line that is still open is looked
/// at again, so that a whole answer costs as much as its length.
public struct MarkdownStream: Sendable {
  /// Everything that has come.
  public private(set) var text = ""
  /// Characters that were looked at so far, those of an open line once per reading; for tests of the cost.
  public private(set) var examinedCharacters = 0

  private var openLine = ""
  private var parser = MarkdownParser()

  /// An empty text.
  public init() {}

  /// Takes the next piece.
  public mutating func append(_ piece: String) {
    text += piece
    let hadHalf = openLine.last == "\r"  // of a line break
    openLine += piece
    guard hadHalf || piece.contains(where: \.isNewline) else { return }
    examinedCharacters += openLine.count
    let isHalf = openLine.last == "\r"
    var lines = openLine.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    if isHalf, lines.count > 1 { lines.removeLast() }
    for line in lines.dropLast() { parser.take(line) }
    openLine = (lines.last.map { String($0) } ?? "") + (isHalf ? "\r" : "")
  }

  /// The blocks that can change no more.
  public var closedBlocks: [MarkdownBlock] { parser.closed }

  /// All blocks, the last of which may still grow.
  public var blocks: [MarkdownBlock] { parser.closed + openBlocks }

  /// The blocks that may still change: mostly one.
  public var openBlocks: [MarkdownBlock] {
    var rest = parser
    rest.closed = []
    let line = openLine.last == "\r" ? String(openLine.dropLast()) : openLine
    rest.take(line[...])
    rest.end()
    return rest.closed
  }

  /// The same as `openBlocks`, with its cost counted.
  mutating func readOpenBlocks() -> [MarkdownBlock] {
    examinedCharacters += openLine.count
    return openBlocks
  }
}

/// Parses line by line. What a line means may depend on the one before it, never on more.
struct MarkdownParser: Sendable {
  private enum Open {
    case none
    case paragraph([Substring])
    case code(MarkdownLine.Fence, [String])
    case list([MarkdownItem], isAfterBlank: Bool)
    case quote([String])
    case table(header: [String], rows: [[String]])
  }

  var closed: [MarkdownBlock] = []
  private var open = Open.none
  private var header: Substring?  // a line of a paragraph that heads a table if a rule follows

  mutating func take(_ line: Substring) {
    if let candidate = header {
      header = nil
      if MarkdownLine.isTableRule(line) {
        close()
        open = .table(header: MarkdownLine.cells(candidate), rows: [])
        return
      }
      addToParagraph(candidate)
    }
    switch open {
    case .code(let fence, var lines):
      open = .none  // the only owner of the lines again
      if fence.isClosed(by: line) {
        closed.append(Self.code(fence, lines, isClosed: true))
      } else {
        lines.append(String(line.dropIndent(fence.indent)))
        open = .code(fence, lines)
      }
    case .list(var items, let isAfterBlank):
      open = .none
      takeInList(line, &items, isAfterBlank)
    case .quote(var lines) where line.trimmed.hasPrefix(">"):
      open = .none
      lines.append(line.trimmed[...].dropFirst().trimmed)
      open = .quote(lines)
    case .table(let header, var rows) where line.contains("|"):
      open = .none
      let cells = MarkdownLine.cells(line)
      rows.append((0..<header.count).map { $0 < cells.count ? cells[$0] : "" })
      open = .table(header: header, rows: rows)
    default: begin(line)
    }
  }

  /// The end of the text.
  mutating func end() {
    if let candidate = header { addToParagraph(candidate) }
    header = nil
    close()
  }

  /// A line that continues no block except perhaps a paragraph.
  private mutating func begin(_ line: Substring) {
    let trimmed = line.trimmed
    if let fence = MarkdownLine.fence(line) {
      close()
      open = .code(fence, [])
    } else if trimmed.isEmpty {
      close()
    } else if let heading = MarkdownLine.heading(trimmed) {
      close()
      closed.append(heading)
    } else if MarkdownLine.isRule(trimmed) {
      close()
      closed.append(.rule)
    } else if trimmed.hasPrefix(">") {
      close()
      open = .quote([trimmed[...].dropFirst().trimmed])
    } else if let item = MarkdownLine.item(line) {
      close()
      open = .list([item], isAfterBlank: false)
    } else if line.contains("|") {
      if case .paragraph = open {} else { close() }
      header = line
    } else {
      addToParagraph(line)
    }
  }

  /// Items with their continuation lines. A blank line ends the list unless another item follows.
  private mutating func takeInList(_ line: Substring, _ items: inout [MarkdownItem], _ isAfterBlank: Bool) {
    if let item = MarkdownLine.item(line) {
      items.append(item)
    } else if isAfterBlank {
      closed.append(.list(items))
      return begin(line)
    } else if line.trimmed.isEmpty {
      open = .list(items, isAfterBlank: true)
      return
    } else if line.first?.isWhitespace == true, MarkdownLine.fence(line) == nil {
      items[items.count - 1].text += "\n" + line.trimmed
    } else {
      closed.append(.list(items))
      return begin(line)
    }
    open = .list(items, isAfterBlank: false)
  }

  private mutating func addToParagraph(_ line: Substring) {
    if case .paragraph(var lines) = open {
      open = .none
      lines.append(line)
      open = .paragraph(lines)
    } else {
      close()
      open = .paragraph([line])
    }
  }

  private mutating func close() {
    switch open {
    case .none: break
    case .paragraph(let lines): closed.append(.paragraph(lines.map(\.trimmed).joined(separator: "\n")))
    case .code(let fence, let lines): closed.append(Self.code(fence, lines, isClosed: false))
    case .list(let items, _): closed.append(.list(items))
    case .quote(let lines): closed.append(.quote(lines.joined(separator: "\n")))
    case .table(let header, let rows): closed.append(.table(header: header, rows: rows))
    }
    open = .none
  }

  private static func code(_ fence: MarkdownLine.Fence, _ lines: [String], isClosed: Bool) -> MarkdownBlock {
    .code(language: fence.language, text: lines.joined(separator: "\n"), isClosed: isClosed)
  }
}
