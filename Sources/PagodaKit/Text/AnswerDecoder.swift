// AnswerDecoder: the text of an answer token by token, with any tokenizer.

/// The text of an answer's tokens as they come. A character that takes several tokens comes with the last of them.
package struct AnswerDecoder {
  private let tokenizer: any TextTokenizer
  private var ids: [Int32] = []  // the last tokens with text, since some tokenizers decode a first token in another way
  private var numShown = 0  // of ids
  private static let maxTokensOfCharacter = 8  // more are broken bytes

  package init(_ tokenizer: any TextTokenizer) { self.tokenizer = tokenizer }

  /// The text that became certain through this token.
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

  /// The text of what was held back.
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
