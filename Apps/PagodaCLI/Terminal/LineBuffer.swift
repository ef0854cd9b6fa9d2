// LineBuffer: the text being typed and the cursor in it, by user-perceived characters.

/// A text and a cursor. A character is a grapheme cluster: a joined emoji is deleted with one key.
package struct LineBuffer: Equatable {
  package private(set) var characters: [Character] = []
  package private(set) var cursor = 0  // between characters, 0...characters.count
  private var killed = ""

  package init(_ text: String = "") { set(text) }

  package var text: String { String(characters) }
  package var isEmpty: Bool { characters.isEmpty }

  package mutating func set(_ text: String) {
    characters = Array(text)
    cursor = characters.count
  }

  /// Inserts at the cursor. Typed text may combine with the previous character, such as an accent or the rest of an
  /// emoji.
  package mutating func insert(_ text: String) {
    let left = String(characters[..<cursor]) + text
    let right = String(characters[cursor...])
    characters = Array(left + right)
    cursor = min(Array(left).count, characters.count)
  }

  package mutating func deleteBackward() {
    guard cursor > 0 else { return }
    cursor -= 1
    characters.remove(at: cursor)
  }

  package mutating func deleteForward() {
    if cursor < characters.count { characters.remove(at: cursor) }
  }

  package mutating func moveLeft() { cursor = max(cursor - 1, 0) }
  package mutating func moveRight() { cursor = min(cursor + 1, characters.count) }
  package mutating func moveToLineStart() { cursor = lineStart }
  package mutating func moveToLineEnd() { cursor = characters[cursor...].firstIndex(of: "\n") ?? characters.count }
  package mutating func moveWordLeft() { cursor = wordStart }

  package mutating func moveWordRight() {
    while cursor < characters.count && characters[cursor].isWhitespace { cursor += 1 }
    while cursor < characters.count && !characters[cursor].isWhitespace { cursor += 1 }
  }

  package mutating func killToLineEnd() {
    let end = characters[cursor...].firstIndex(of: "\n") ?? characters.count
    kill(cursor..<(end == cursor ? min(cursor + 1, characters.count) : end))
  }

  package mutating func killToLineStart() { kill(lineStart..<cursor) }
  package mutating func killWord() { kill(wordStart..<cursor) }
  package mutating func yank() { insert(killed) }

  private mutating func kill(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    killed = String(characters[range])
    characters.removeSubrange(range)
    cursor = range.lowerBound
  }

  private var lineStart: Int { (characters[..<cursor].lastIndex(of: "\n") ?? -1) + 1 }

  private var wordStart: Int {
    var index = cursor
    while index > 0 && characters[index - 1].isWhitespace { index -= 1 }
    while index > 0 && !characters[index - 1].isWhitespace { index -= 1 }
    return index
  }

  /// The rows of a terminal that show the text, and the cursor in them.
  package struct Layout: Equatable {
    package var rows: [String]
    package var row: Int
    package var column: Int
  }

  /// Each line starts with its own prompt and breaks at `width`.
  package func layout(prompt: String, continuation: String, width: Int) -> Layout {
    var layout = Layout(rows: [prompt], row: 0, column: 0)
    var column = columnWidth(of: prompt)
    func newRow(_ start: String) {
      layout.rows.append(start)
      column = columnWidth(of: start)
    }
    for (index, character) in characters.enumerated() {
      let shown = Self.shown(character)
      let own = columnWidth(of: shown)
      if character != "\n" && column + own > width { newRow("") }
      if index == cursor { (layout.row, layout.column) = (layout.rows.count - 1, column) }
      if character == "\n" {
        newRow(continuation)
      } else {
        layout.rows[layout.rows.count - 1].append(shown)
        column += own
      }
    }
    if cursor == characters.count {
      if column >= width { newRow("") }
      (layout.row, layout.column) = (layout.rows.count - 1, column)
    }
    return layout
  }

  /// A control character in pasted text must not reach the terminal.
  private static func shown(_ character: Character) -> Character {
    if character == "\t" { return " " }
    return character.unicodeScalars.allSatisfy { $0.properties.generalCategory == .control } ? "?" : character
  }
}
