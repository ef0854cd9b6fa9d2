// CodeColours: colours keywords, strings, numbers and comments of code that arrives in chunks.

/// Highlights by simple rules that most languages share. The text itself is not changed, and only a word that may still
/// grow is held back.
package struct CodeColours {
  /// SGR codes of foreground colours.
  private enum Colour: String {
    case plain = ""
    case keyword = "35"
    case string = "32"
    case number = "33"
    case comment = "90"
    case removed = "31"
  }
  /// Within text that ends with a mark, or at the end of a line if there is none.
  private struct Span {
    var colour: Colour
    var end: String?
    var endsWithLine: Bool
    var hasEscapes: Bool
  }

  private let language: CodeLanguage?
  private var held = ""
  private var span: Span?
  private var isLineStart = true

  /// - Parameter language: as after the marks of a fence; an unknown one is not coloured.
  package init(language: String) { self.language = CodeLanguage.named(language) }

  /// Text that can be written now.
  package mutating func add(_ text: String) -> String {
    guard language != nil else { return text }
    held += text
    return emit(isEnd: false)
  }

  /// Text that was held back.
  package mutating func finish() -> String { emit(isEnd: true) }

  private mutating func emit(isEnd: Bool) -> String {
    guard let language else { return "" }
    var out = ""
    while !held.isEmpty {
      guard let (count, colour) = span.map({ inside($0, isEnd) }) ?? next(language, isEnd), count > 0 else { break }
      let text = String(held.prefix(count))
      held.removeFirst(count)
      isLineStart = text.last?.isNewline ?? isLineStart
      out += colour == .plain || text.allSatisfy(\.isWhitespace) ? text : "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[39m"
    }
    return out
  }

  /// How many characters of the open span can be written; ends it when its end is there.
  private mutating func inside(_ open: Span, _ isEnd: Bool) -> (Int, Colour) {
    var (index, count) = (held.startIndex, 0)
    while index < held.endIndex {
      let rest = held[index...]
      if open.endsWithLine && held[index].isNewline {
        span = nil
        return count > 0 ? (count, open.colour) : (1, .plain)
      }
      if let end = open.end, rest.hasPrefix(end) {
        span = nil
        return (count + end.count, open.colour)
      }
      // The end may have only begun to arrive.
      if let end = open.end, !isEnd, end.hasPrefix(rest) { break }
      let step = open.hasEscapes && held[index] == "\\" ? 2 : 1
      if step > rest.count && !isEnd { break }
      guard let after = held.index(index, offsetBy: step, limitedBy: held.endIndex) else {
        return (count + 1, open.colour)
      }
      (index, count) = (after, count + step)
    }
    return (count, open.colour)
  }

  /// The next token outside spans; nil if more text is needed to know it.
  private mutating func next(_ language: CodeLanguage, _ isEnd: Bool) -> (Int, Colour)? {
    if language.isDiff, isLineStart, let first = held.first, "+-@".contains(first) {
      span = Span(
        colour: first == "+" ? .string : first == "-" ? .removed : .keyword, end: nil, endsWithLine: true,
        hasEscapes: false)
      return (1, span?.colour ?? .plain)
    }
    for mark in language.marks where held.hasPrefix(mark.start) {
      // A longer mark that begins in the same way may still arrive: """ after ".
      if !isEnd, language.marks.contains(where: { $0.start.count > held.count && $0.start.hasPrefix(held) }) {
        return nil
      }
      span = Span(
        colour: mark.isComment ? .comment : .string, end: mark.end, endsWithLine: mark.endsWithLine,
        hasEscapes: !mark.isComment)
      return (mark.start.count, mark.isComment ? .comment : .string)
    }
    if !isEnd && language.marks.contains(where: { $0.start.hasPrefix(held) }) { return nil }
    guard let first = held.first, first.isLetter || first.isNumber || first == "_" else { return (1, .plain) }
    let word = held.prefix { $0.isLetter || $0.isNumber || $0 == "_" || (first.isNumber && $0 == ".") }
    if word.endIndex == held.endIndex && !isEnd { return nil }
    let isKeyword = language.keywords.contains(language.ignoresCase ? word.lowercased() : String(word))
    return (word.count, first.isNumber ? .number : isKeyword ? .keyword : .plain)
  }
}
