// MarkdownParser: parses Markdown into blocks, line by line; splits long blocks into segments while a text grows.
import Foundation

/// Parses line by line. The meaning of a line may depend on the previous one, never on more.
struct MarkdownParser: Sendable {
  private enum Open {
    case none
    case paragraph([Substring])
    case code(MarkdownLine.Fence, [String])
    case list([MarkdownItem], isAfterBlank: Bool)
    case quote([String])
    case table(header: [String], rows: [[String]], columns: Int)
    case formula(MarkdownLine.FormulaStart, [String])
  }

  /// A block of this size is closed and another of its kind is started: unclosed code, a list after a list, a
  /// table without a header.
  let chunkBytes: Int
  var closed: [MarkdownBlock] = []
  /// Size of the unsettled part.
  var unsettledBytes: Int { openBytes + (header?.utf8.count ?? 0) }

  private var openBytes = 0
  private var open = Open.none
  private var header: Substring?  // a line of a paragraph that becomes a table header if a rule follows
  private var isWithinLine = false  // the next text is the rest of a line

  init(chunkBytes: Int = .max) { self.chunkBytes = chunkBytes }

  /// Takes a line, or the first part of one.
  mutating func take(_ line: Substring, isContinued: Bool = false) {
    let isRest = isWithinLine
    isWithinLine = isContinued
    if isRest, line.trimmed.isEmpty { return }  // the line ended where it was split
    if let candidate = header {
      header = nil
      if MarkdownLine.isTableRule(line) {
        close()
        let cells = MarkdownLine.cells(candidate)
        open = .table(header: cells, rows: [], columns: cells.count)
        return grow(by: candidate)
      }
      addToParagraph(candidate)
    }
    switch open {
    case .code(let fence, var lines):
      open = .none  // the only owner of the lines again
      if fence.isClosed(by: line) {
        closed.append(Self.code(fence, lines, isClosed: true))
        openBytes = 0
      } else {
        lines.append(String(line.dropIndent(fence.indent)))
        open = .code(fence, lines)
        grow(by: line)
      }
    case .list(var items, let isAfterBlank):
      open = .none
      takeInList(line, &items, isAfterBlank, isRest)
    case .quote(var lines) where line.trimmed.hasPrefix(">"):
      open = .none
      lines.append(line.trimmed[...].dropFirst().trimmed)
      open = .quote(lines)
      grow(by: line)
    case .table(let header, var rows, let columns) where line.contains("|"):
      open = .none
      let cells = MarkdownLine.cells(line)
      rows.append((0..<columns).map { $0 < cells.count ? cells[$0] : "" })
      open = .table(header: header, rows: rows, columns: columns)
      grow(by: line)
    case .formula(let start, var lines):
      open = .none
      takeInFormula(line, start, &lines)
    case .none where isRest, .paragraph where isRest: addToParagraph(line)
    default: begin(line)
    }
  }

  /// The end of the text.
  mutating func end() {
    if let candidate = header { addToParagraph(candidate) }
    header = nil
    close()
  }

  /// A line that continues no block, except possibly a paragraph.
  private mutating func begin(_ line: Substring) {
    let trimmed = line.trimmed
    if let fence = MarkdownLine.fence(line) {
      close()
      open = .code(fence, [])
    } else if trimmed.isEmpty {
      close()
    } else if let start = MarkdownLine.formula(trimmed) {
      close()
      var lines: [String] = []
      takeInFormula(start.rest, start, &lines)
    } else if let heading = MarkdownLine.heading(trimmed) {
      close()
      closed.append(heading)
    } else if MarkdownLine.isRule(trimmed) {
      close()
      closed.append(.rule)
    } else if trimmed.hasPrefix(">") {
      close()
      open = .quote([trimmed[...].dropFirst().trimmed])
      grow(by: line)
    } else if let item = MarkdownLine.item(line) {
      close()
      open = .list([item], isAfterBlank: false)
      openBytes = line.utf8.count
    } else if line.contains("|") {
      if case .paragraph = open {} else { close() }
      header = line
    } else {
      addToParagraph(line)
    }
  }

  /// A line of a formula. TeX allows no blank line in one: text without a closing mark before it is a paragraph.
  private mutating func takeInFormula(_ line: Substring, _ start: MarkdownLine.FormulaStart, _ lines: inout [String]) {
    if let end = line.firstRange(of: start.close) {
      lines.append(String(line[..<end.lowerBound]))
      closed.append(Self.formula(lines, isClosed: true))
      openBytes = 0
      let rest = line[end.upperBound...]
      if !rest.trimmed.isEmpty { addToParagraph(rest) }
    } else if line.trimmed.isEmpty, !lines.isEmpty {
      let text = start.open + lines.joined(separator: "\n")
      closed.append(.paragraph(text.split(separator: "\n").map(\.trimmed).joined(separator: "\n")))
      openBytes = 0
    } else {
      lines.append(String(line))
      open = .formula(start, lines)
      grow(by: line)
    }
  }

  /// Items with their continuation lines. A blank line ends the list unless another item follows.
  private mutating func takeInList(
    _ line: Substring, _ items: inout [MarkdownItem], _ isAfterBlank: Bool, _ isRest: Bool
  ) {
    let isFull = openBytes >= chunkBytes
    if !isRest, let item = MarkdownLine.item(line) {
      if isFull { closeList(&items) }
      items.append(item)
    } else if isAfterBlank {
      closeList(&items)
      return begin(line)
    } else if line.trimmed.isEmpty {
      open = .list(items, isAfterBlank: true)
      return
    } else if isRest || (line.first?.isWhitespace == true && MarkdownLine.fence(line) == nil) {
      if isFull {
        closeList(&items)
        return addToParagraph(line)
      }
      items[items.count - 1].text += "\n" + line.trimmed
    } else {
      closeList(&items)
      return begin(line)
    }
    open = .list(items, isAfterBlank: false)
    openBytes += line.utf8.count + 1
  }

  private mutating func closeList(_ items: inout [MarkdownItem]) {
    closed.append(.list(items))
    items = []
    openBytes = 0
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
    grow(by: line)
  }

  /// The open block has one more line. If it has the maximum length of a segment, it is closed and the next segment
  /// starts.
  private mutating func grow(by line: Substring) {
    openBytes += line.utf8.count + 1
    if openBytes < chunkBytes { return }
    let full = open
    close()
    switch full {
    case .code(let fence, _): open = .code(fence, [])
    case .quote: open = .quote([])
    case .table(_, _, let columns): open = .table(header: [], rows: [], columns: columns)
    case .none, .paragraph, .list, .formula: break
    }
  }

  private mutating func close() {
    switch open {
    case .none: break
    case .paragraph(let lines): closed.append(.paragraph(lines.map(\.trimmed).joined(separator: "\n")))
    case .code(let fence, let lines): closed.append(Self.code(fence, lines, isClosed: false))
    case .list(let items, _): closed.append(.list(items))
    case .quote(let lines): if !lines.isEmpty { closed.append(.quote(lines.joined(separator: "\n"))) }
    case .table(let header, let rows, _):
      if !header.isEmpty || !rows.isEmpty { closed.append(.table(header: header, rows: rows)) }
    case .formula(_, let lines): closed.append(Self.formula(lines, isClosed: false))
    }
    open = .none
    openBytes = 0
  }

  private static func formula(_ lines: [String], isClosed: Bool) -> MarkdownBlock {
    .formula(tex: lines.map { $0[...].trimmed }.filter { !$0.isEmpty }.joined(separator: "\n"), isClosed: isClosed)
  }

  private static func code(_ fence: MarkdownLine.Fence, _ lines: [String], isClosed: Bool) -> MarkdownBlock {
    .code(language: fence.language, text: lines.joined(separator: "\n"), isClosed: isClosed)
  }
}
