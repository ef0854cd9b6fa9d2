// WordWrap: breaks text that arrives in chunks at spaces, so that a terminal does not break it within words.

/// Wraps a stream of text. A word is held back until it is known to fit; `finish` returns the rest.
package struct WordWrap {
  private let width: Int
  private var column = 0
  private var word = ""
  private var wordWidth = 0
  private var spaces = ""
  private var isWithinWord = false  // the written text ends within a word that is longer than a line
  private var isCode = false  // within a fence: lines are not wrapped
  private var lineStart = ""

  /// What the further lines of the current one begin with, as the items of a list need it; a line break ends it.
  package var margin = "" { didSet { if columnWidth(of: margin) > width / 2 { margin = "" } } }

  /// - Parameter width: columns of a line; 0 wraps nothing.
  package init(width: Int) { self.width = width }

  /// Text that can be written now.
  package mutating func add(_ text: String) -> String {
    guard width > 0 else { return text }
    var out = ""
    for character in text { out += take(character) }
    return out
  }

  /// An escape sequence, which takes no columns, at this place of the text.
  package mutating func style(_ sequence: String) { if width > 0 { word += sequence } }

  /// Text that was held back.
  package mutating func finish() -> String { width > 0 ? flush() : "" }

  private mutating func take(_ character: Character) -> String {
    if character.isNewline {
      let out = flush() + "\n"
      if lineStart.hasPrefix("```") || lineStart.hasPrefix("~~~") { isCode.toggle() }
      (column, spaces, lineStart, margin, isWithinWord) = (0, "", "", "", false)
      return out
    }
    if lineStart.count < 3 { lineStart.append(character) }
    if isCode || lineStart.hasPrefix("```") {
      let out = flush() + String(character)
      column += columnWidth(of: character)
      return out
    }
    if character == " " || character == "\t" {
      let out = flush()
      spaces.append(" ")
      return out
    }
    let own = columnWidth(of: character)
    // Scripts without spaces break between any two characters.
    let out = own == 2 ? flush() : ""
    if own == 2 { isWithinWord = false }
    word.append(character)
    wordWidth += own
    if wordWidth < width { return out }
    // A word longer than a line, such as a path, is broken by the terminal, which copies it whole.
    defer { isWithinWord = true }
    return out + flush()
  }

  private mutating func flush() -> String {
    guard !word.isEmpty else { return "" }
    defer { (word, wordWidth, spaces) = ("", 0, "") }
    if isWithinWord && spaces.isEmpty {
      column = width  // the next word begins a line
      return word
    }
    isWithinWord = false
    if column > 0 && column + spaces.count + wordWidth > width {
      column = columnWidth(of: margin) + wordWidth
      return "\n" + margin + word
    }
    column += spaces.count + wordWidth
    return spaces + word
  }
}

/// Wraps a whole text and keeps the indentation of its lines, for help texts.
package func wrapped(_ text: String, width: Int, indent: Int = 0) -> String {
  guard width > indent + 10 else { return text }
  let margin = String(repeating: " ", count: indent)
  let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
    guard columnWidth(of: line) > width - indent else { return String(line) }
    let own = String(line.prefix { $0 == " " })
    var wrap = WordWrap(width: width - indent - own.count)
    let body = wrap.add(String(line.dropFirst(own.count))) + wrap.finish()
    return own + body.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n" + own)
  }
  return lines.joined(separator: "\n").split(separator: "\n", omittingEmptySubsequences: false)
    .joined(separator: "\n" + margin)
}
