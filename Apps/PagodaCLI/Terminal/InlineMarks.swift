// InlineMarks: bold, italic and code within a line of Markdown that arrives in chunks, as styles of a terminal.

/// Finds marks by CommonMark's rules, with two differences: a span ends in the line in which it begins, and marks
/// after a letter or a sign of a formula, or around a name, are text: `2**3`, `$x^*$`, `__init__`. A span is held back until its
/// end arrives; marks without an end are text.
package struct InlineMarks {
  package enum Piece: Equatable {
    case text(String)
    case style(String)  // an escape sequence
  }
  private enum Found {
    case nothingYet
    case text(String, length: Int)
    case code(ArraySlice<Character>, length: Int)
    case emphasis(ArraySlice<Character>, level: Int, length: Int)
  }

  private static let marks: Set<Character> = ["*", "_", "`"]
  private static let maxHeld = 300  // characters; a longer span is text, so that it is shown at once
  private var isBold: Bool
  private var held: [Character] = []
  private var last: Character?  // the one before `held`

  /// - Parameter isBold: whether the text around is bold already, so that bold marks only disappear.
  package init(isBold: Bool = false) { self.isBold = isBold }

  /// The text of a complete line without its marks.
  package static func plain(_ text: String) -> String {
    var marks = Self()
    let pieces = text.flatMap { marks.add($0) } + marks.finish()
    return pieces.reduce(into: "") { if case .text(let text) = $1 { $0 += text } }
  }

  /// What can be written now. The line break is not part of the line.
  package mutating func add(_ character: Character) -> [Piece] {
    if held.isEmpty && character != "\\" && !Self.marks.contains(character) {
      last = character
      return [.text(String(character))]
    }
    held.append(character)
    return emit(isEnd: false)
  }

  /// What was held back: the line has ended.
  package mutating func finish() -> [Piece] {
    defer { last = nil }
    return emit(isEnd: true)
  }

  private mutating func emit(isEnd: Bool) -> [Piece] {
    var pieces: [Piece] = []
    while let first = held.first {
      var length = held.prefix { $0 == first }.count
      switch find(isEnd) {
      case .nothingYet where !isEnd && held.count < Self.maxHeld: return pieces
      case .nothingYet: pieces.append(.text(String(held.prefix(length))))
      case .text(let text, let count):
        pieces.append(.text(text))
        length = count
      case .code(let inner, let count):
        pieces += styled([.text(String(inner))], "36", "39")
        length = count
      case .emphasis(let inner, let level, let count):
        var nested = Self(isBold: isBold || level >= 2)
        var parts = inner.flatMap { nested.add($0) } + nested.finish()
        if level != 2 { parts = styled(parts, "3", "23") }
        if level >= 2 && !isBold { parts = styled(parts, "1", "22") }
        pieces += parts
        length = count
      }
      last = held[length - 1]
      held.removeFirst(length)
    }
    return pieces
  }

  private func styled(_ parts: [Piece], _ start: String, _ end: String) -> [Piece] {
    [.style("\u{1B}[\(start)m")] + parts + [.style("\u{1B}[\(end)m")]
  }

  /// What `held` begins with.
  private func find(_ isEnd: Bool) -> Found {
    let first = held[0]
    if first == "\\" {
      guard held.count > 1 else { return .nothingYet }
      return Self.marks.contains(held[1]) ? .text(String(held[1]), length: 2) : .text("\\", length: 1)
    }
    guard Self.marks.contains(first) else {
      let text = held.prefix { $0 != "\\" && !Self.marks.contains($0) }
      return .text(String(text), length: text.count)
    }
    let level = run(at: 0)
    if first == "`" {
      guard let end = endOfCode(at: 0, isEnd) else { return .nothingYet }
      return .code(unpadded(held[level..<end]), length: end + level)
    }
    guard level < held.count else { return .nothingYet }
    guard level <= 3, !held[level].isWhitespace, canOpen() else {
      return .text(String(held.prefix(level)), length: level)
    }
    guard let end = endOfEmphasis(level, isEnd) else { return .nothingYet }
    let inner = held[level..<end]
    if first == "_" && level == 2 && !inner.contains(" ") { return .text(String(held[..<end]), length: end) }
    return .emphasis(inner, level: level, length: end + level)
  }

  /// How often the mark at an index is repeated.
  private func run(at index: Int) -> Int { held[index...].prefix { $0 == held[index] }.count }

  /// Where the marks are that end the code which begins at an index; nil if they have not arrived.
  private func endOfCode(at start: Int, _ isEnd: Bool) -> Int? {
    let level = run(at: start)
    var index = start + level
    while index < held.count {
      let count = held[index] == "`" ? run(at: index) : 0
      if count == level { return index + count < held.count || isEnd ? index : nil }
      index += max(count, 1)
    }
    return nil
  }

  private func endOfEmphasis(_ level: Int, _ isEnd: Bool) -> Int? {
    var index = level
    while index < held.count {
      switch held[index] {
      case "\\": index += 2
      case "`":
        guard let end = endOfCode(at: index, isEnd) else { return nil }
        index = end + run(at: end)
      case held[0]:
        let count = run(at: index)
        if index + count == held.count && !isEnd { return nil }
        if count == level && canClose(at: index, next: index + count) { return index }
        index += count
      default: index += 1
      }
    }
    return nil
  }

  private func canOpen() -> Bool {
    guard let last else { return true }
    return last.isWhitespace || !last.isASCII && (held[0] == "*" || !last.isLetter)
      || "([{<\"'-/|:,.;!?*_".contains(last)
  }

  private func canClose(at index: Int, next: Int) -> Bool {
    let before = held[index - 1]
    if before.isWhitespace { return false }
    guard next < held.count, held[next].isLetter || held[next].isNumber else { return true }
    return held[0] == "*" && (before.isLetter || before.isNumber)
  }

  /// Code that contains marks is written with a space at each end.
  private func unpadded(_ code: ArraySlice<Character>) -> ArraySlice<Character> {
    guard code.count > 2, code.first == " ", code.last == " ", code.contains(where: { $0 != " " }) else { return code }
    return code.dropFirst().dropLast()
  }
}
