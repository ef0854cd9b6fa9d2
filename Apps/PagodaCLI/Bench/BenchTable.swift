// BenchTable: the tables of `pagoda bench`, as Markdown where they fit the terminal.
import Foundation

/// A table whose rows can be printed one by one, because the column widths are known beforehand. In a terminal that is too
/// narrow for a row, the columns with the same value in all rows are above the table; if it still does not fit, each row is a
/// list.
package struct BenchTable {
  let columns: [(title: String, width: Int)]
  let sharedCount: Int  // of the first columns
  let screenWidth: Int?

  /// - Parameter screenWidth: columns of the terminal; nil for a pipe.
  package init(
    columns: [(title: String, width: Int)], sharedCount: Int = 0, screenWidth: Int? = Style.width(of: STDOUT_FILENO)
  ) {
    self.columns = columns
    self.sharedCount = sharedCount
    self.screenWidth = screenWidth
  }

  private func fits(_ columns: ArraySlice<(title: String, width: Int)>) -> Bool {
    screenWidth.map { columns.reduce(1) { $0 + $1.width + 3 } <= $0 } ?? true
  }

  private var shownColumns: ArraySlice<(title: String, width: Int)> {
    fits(columns[...]) ? columns[...] : columns.dropFirst(sharedCount)
  }

  private var isList: Bool { !fits(shownColumns) }

  /// - Parameter shared: the values of the shared columns.
  package func heading(_ shared: [String] = []) -> String {
    let isShort = shownColumns.count < columns.count
    let facts = isShort ? joined(zip(columns, shared).map { "\($0.title) \($1)" }, width: screenWidth) + "\n\n" : ""
    if isList { return facts }
    let dashes = shownColumns.map { String(repeating: "-", count: $0.width + 1) + ":|" }.joined()
    return facts + row(shownColumns.map(\.title)) + "|" + dashes + "\n"
  }

  /// - Parameter cells: of all columns.
  package func line(_ cells: [String]) -> String {
    let shown = cells.suffix(shownColumns.count)
    guard isList else { return row(shown) }
    return listed(zip(shownColumns, shown).map { ("  " + $0.title, $1) }, screenWidth) + "\n"
  }

  private func row(_ cells: some Sequence<String>) -> String {
    "|"
      + zip(shownColumns, cells).map { column, cell in
        " " + String(repeating: " ", count: max(column.width - cell.count, 0)) + cell + " |"
      }.joined() + "\n"
  }
}

private func listed(_ rows: [(String, String)], _ width: Int?) -> String { columns(rows, width: width) }
