// Table: a Markdown table in columns, with cells without marks, wrapped at words where it is wider than the terminal.

/// A table of GitHub's Markdown: a heading, a row of dashes that aligns the columns, and other rows.
package struct Table {
  private enum Alignment { case left, centre, right }

  private var rows: [[String]]
  private var alignments: [Alignment]

  /// Nil if the lines are not a table.
  package init?(_ lines: [String]) {
    guard lines.count >= 2 else { return nil }
    let (heading, dashes) = (Self.cells(lines[0]), Self.cells(lines[1]))
    guard heading.count == dashes.count, dashes.allSatisfy(Self.isDashes) else { return nil }
    alignments = dashes.map { $0.hasSuffix(":") ? ($0.hasPrefix(":") ? .centre : .right) : .left }
    // As on GitHub, missing cells are empty and more cells than in the heading are ignored.
    rows = ([heading] + lines.dropFirst(2).map(Self.cells)).map { row in
      (0..<heading.count).map { $0 < row.count ? row[$0] : "" }
    }
  }

  /// Lines that end with a line break; nil if the columns cannot have three characters each.
  package func drawing(width: Int) -> String? {
    let gaps = 3 * (alignments.count - 1) + 2  // between columns, and at the ends
    guard let widths = Self.widths(of: rows, within: width - gaps) else { return nil }
    var out = ""
    for (index, row) in rows.enumerated() {
      let cells = zip(row, widths).map { Self.wrapped($0, width: $1) }
      for line in 0..<(cells.map(\.count).max() ?? 1) {
        let parts = zip(zip(cells, alignments), widths).map { column, width in
          let text = line < column.0.count ? column.0[line] : ""
          return Self.padded(text, width, column.1, isBold: index == 0)
        }
        out += " " + parts.joined(separator: Style.dimmed(" │ ")) + "\n"
      }
      if index == 0 {
        let dashes = widths.map { String(repeating: "─", count: $0) }
        out += Style.dimmed("─" + dashes.joined(separator: "─┼─") + "─") + "\n"
      }
    }
    return out
  }

  /// The cells of a line; `\|` is a bar within one.
  private static func cells(_ line: String) -> [String] {
    var cells: [String] = [""]
    var isEscaped = false
    for character in line.trimmed {
      if character == "|" && !isEscaped {
        cells.append("")
      } else if character == "|" {
        cells[cells.count - 1].removeLast()
        cells[cells.count - 1].append("|")
      } else {
        cells[cells.count - 1].append(character)
      }
      isEscaped = character == "\\" && !isEscaped
    }
    if cells.count > 1 && cells[0].trimmed.isEmpty { cells.removeFirst() }
    if cells.count > 1 && cells[cells.count - 1].trimmed.isEmpty { cells.removeLast() }
    return cells.map { InlineMarks.plain($0.trimmed) }
  }

  private static func isDashes(_ cell: String) -> Bool {
    let inner = cell.drop { $0 == ":" }
    let dashes = inner.prefix { $0 == "-" }
    return !dashes.isEmpty && cell.count - inner.count <= 1 && ["", ":"].contains(inner.dropFirst(dashes.count))
  }

  /// Columns that are narrower than an equal share keep their width; the others share the rest.
  private static func widths(of rows: [[String]], within available: Int) -> [Int]? {
    let wanted = rows[0].indices.map { column in
      max(3, rows.flatMap { lines($0[column]).map { columnWidth(of: $0) } }.max() ?? 0)
    }
    guard wanted.reduce(0, +) > available else { return wanted }
    var (widths, left, open) = (wanted, available, Set(wanted.indices))
    while let narrow = open.first(where: { wanted[$0] <= left / open.count }) {
      open.remove(narrow)
      left -= wanted[narrow]
    }
    for (index, column) in open.sorted().enumerated() {
      widths[column] = left / open.count + (index < left % open.count ? 1 : 0)
    }
    return widths.allSatisfy { $0 >= 3 } ? widths : nil
  }

  /// The lines that a cell has by itself: models write `<br>` for a line break.
  private static func lines(_ cell: String) -> [String] {
    cell.replacing("<br/>", with: "<br>").replacing("<br />", with: "<br>").split(
      separator: "<br>", omittingEmptySubsequences: false
    ).map { String($0).trimmed }
  }

  private static func wrapped(_ cell: String, width: Int) -> [String] {
    lines(cell).flatMap { line -> [String] in
      var wrap = WordWrap(width: width)
      let text = wrap.add(line) + wrap.finish()
      return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { broken(String($0), width: width) }
    }
  }

  /// Breaks words that are longer than a line.
  private static func broken(_ line: String, width: Int) -> [String] {
    var (parts, used) = ([""], 0)
    for character in line {
      let own = columnWidth(of: character)
      if used + own > width {
        parts.append("")
        used = 0
      }
      parts[parts.count - 1].append(character)
      used += own
    }
    return parts
  }

  private static func padded(_ text: String, _ width: Int, _ alignment: Alignment, isBold: Bool) -> String {
    let space = max(width - columnWidth(of: text), 0)
    let before = alignment == .left ? 0 : alignment == .right ? space : space / 2
    let shown = isBold && !text.isEmpty ? Style.emphasised(text) : text
    return String(repeating: " ", count: before) + shown + String(repeating: " ", count: space - before)
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }
}
