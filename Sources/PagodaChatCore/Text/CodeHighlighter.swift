// CodeHighlighter: splits code into classified words for colouring; one pass over the text, no grammar.

/// A part of a code block.
public struct CodeSpan: Hashable, Sendable {
  /// The kind of a span of code.
  public enum Kind: Hashable, Sendable {
    /// Names, operators, spaces.
    case plain
    /// A keyword of the language.
    case keyword
    /// A string literal with its quotes.
    case string
    /// A number literal.
    case number
    /// A comment with its markers.
    case comment
  }

  /// Its kind.
  public var kind: Kind
  /// Its text, as written.
  public var text: String

  /// A part of a code block.
  public init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }
}

/// Splits code into classified parts.
public enum CodeHighlighter {
  /// The parts of a code block in order; together they are the text. An unknown language is one plain part.
  public static func spans(of text: String, language: String?) -> [CodeSpan] {
    guard let language = language.flatMap({ CodeLanguage.named($0) }) else { return [CodeSpan(.plain, text)] }
    var scanner = CodeScanner(text: Array(text.unicodeScalars), language: language)
    return scanner.scan()
  }
}

private struct CodeScanner {
  let text: [Unicode.Scalar]
  let language: CodeLanguage
  private var position = 0
  private var spans: [CodeSpan] = []
  private var plain = String.UnicodeScalarView()

  init(text: [Unicode.Scalar], language: CodeLanguage) {
    self.text = text
    self.language = language
  }

  mutating func scan() -> [CodeSpan] {
    while position < text.count {
      let scalar = text[position]
      if let end = commentEnd() {
        take(.comment, to: end)
      } else if language.quotes.contains(scalar) {
        take(.string, to: stringEnd(scalar))
      } else if isDigit(scalar) {
        take(.number, to: end(from: position) { isWord($0) || $0 == "." })
      } else if isWord(scalar) {
        let end = end(from: position, while: isWord)
        let word = string(position..<end)
        take(language.keywords.contains(word) ? .keyword : .plain, to: end)
      } else {
        take(.plain, to: position + 1)
      }
    }
    flush()
    return spans
  }

  private func string(_ range: Range<Int>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: text[range])
    return String(view)
  }

  private func end(from begin: Int, while condition: (Unicode.Scalar) -> Bool) -> Int {
    var end = begin
    while end < text.count, condition(text[end]) { end += 1 }
    return end
  }

  private func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  private func isWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || isDigit(scalar) || scalar.properties.isAlphabetic
  }

  private func begins(_ mark: String, at start: Int) -> Bool {
    var index = start
    for scalar in mark.unicodeScalars {
      guard index < text.count, text[index] == scalar else { return false }
      index += 1
    }
    return !mark.isEmpty
  }

  /// The end of a comment that starts here.
  private func commentEnd() -> Int? {
    if language.lineComments.contains(where: { begins($0, at: position) }) {
      return end(from: position) { $0 != "\n" }
    }
    guard language.hasBlockComments, begins("/*", at: position) else { return nil }
    var end = position + 2
    while end < text.count, !begins("*/", at: end) { end += 1 }
    return min(end + 2, text.count)
  }

  /// Three quotes end at three; one ends at one, or with its line.
  private func stringEnd(_ quote: Unicode.Scalar) -> Int {
    let triple = String(String.UnicodeScalarView([quote, quote, quote]))
    let isTriple = language.hasTripleQuotes && begins(triple, at: position)
    var end = position + (isTriple ? 3 : 1)
    while end < text.count {
      if text[end] == "\\" {
        end += 2
      } else if isTriple {
        if begins(triple, at: end) { return end + 3 }
        end += 1
      } else if text[end] == quote {
        return end + 1
      } else if text[end] == "\n", quote != "`" {
        return end
      } else {
        end += 1
      }
    }
    return text.count
  }

  private mutating func take(_ kind: CodeSpan.Kind, to end: Int) {
    let end = min(end, text.count)
    if kind == .plain {
      plain.append(contentsOf: text[position..<end])
    } else {
      flush()
      spans.append(CodeSpan(kind, string(position..<end)))
    }
    position = end
  }

  private mutating func flush() {
    if !plain.isEmpty { spans.append(CodeSpan(.plain, String(plain))) }
    plain = String.UnicodeScalarView()
  }
}
