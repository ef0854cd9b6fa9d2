// AnswerDecoder: decodes an answer token by token, with any tokenizer.

/// The text of an answer's tokens as they arrive. A character made of several tokens is returned with the last of them.
package struct AnswerDecoder {
  private let tokenizer: any TextTokenizer
  private var ids: [Int32] = []  // the last tokens with text, because some tokenizers decode a first token differently
  private var numShown = 0  // how many of `ids` have been shown
  private static let maxTokensOfCharacter = 8  // more tokens than this are invalid bytes

  package init(_ tokenizer: any TextTokenizer) { self.tokenizer = tokenizer }

  /// The text completed by this token.
  package mutating func push(_ id: Int32) throws -> String {
    ids.append(id)
    let text = try rest()
    if text.isEmpty || (text.unicodeScalars.last == "\u{FFFD}" && ids.count - numShown < Self.maxTokensOfCharacter) {
      return ""
    }
    ids.removeFirst(numShown)
    numShown = ids.count
    return text
  }

  /// The text that was held back.
  package mutating func finish() throws -> String {
    let text = try rest()
    ids = []
    numShown = 0
    return text
  }

  private func rest() throws -> String {
    let shown = try tokenizer.decode(Array(ids[..<numShown]), skippingSpecialTokens: true)
    let all = try tokenizer.decode(ids, skippingSpecialTokens: true)
    return String(all.unicodeScalars.dropFirst(shown.unicodeScalars.count))
  }
}
