// TokenTexts: log probabilities with the text and bytes of their tokens.
import PagodaKit

struct TokenTexts: Sendable {
  let tokenizer: Tokenizer?
  let endOfText: Set<Int32>

  /// Byte-level vocabularies spell each byte as one character; this is the inverse mapping.
  private static let bytes: [Unicode.Scalar: UInt8] = {
    var table: [Unicode.Scalar: UInt8] = [:]
    var next: UInt32 = 256
    for byte in UInt8.min...UInt8.max {
      let isPlain = (33...126).contains(byte) || (161...172).contains(byte) || byte >= 174
      let code = isPlain ? UInt32(byte) : next
      if !isPlain { next += 1 }
      if let scalar = Unicode.Scalar(code) { table[scalar] = byte }
    }
    return table
  }()

  func bytes(of id: Int32) -> [UInt8] {
    guard let tokenizer, let spelling = tokenizer.spelling(of: id) else { return Array("<\(id)>".utf8) }
    if tokenizer.isSpecial(id) { return Array(spelling.utf8) }
    let bytes = spelling.unicodeScalars.compactMap { Self.bytes[$0] }
    return bytes.count == spelling.unicodeScalars.count ? bytes : Array(spelling.utf8)
  }

  func text(of id: Int32) -> String { String(decoding: bytes(of: id), as: UTF8.self) }

  /// `{"content": [{"token", "logprob", "bytes", "top_logprobs"}]}`; the end-of-text token is not part of an answer.
  func chatLogprobs(_ tokens: [TokenInfo]) -> JSONValue {
    let entries = tokens.filter { !endOfText.contains($0.id) }.map { token in
      var members = entry(token.id, token.logProbability ?? 0)
      members.append(
        .init(
          key: "top_logprobs", value: .array(token.topLogProbabilities.map { .object(entry($0.id, $0.logProbability)) })
        ))
      return JSONValue.object(members)
    }
    return .object(["content": .array(entries), "refusal": .null])
  }

  private func entry(_ id: Int32, _ logprob: Float) -> [JSONValue.Member] {
    let bytes = bytes(of: id)
    return [
      .init(key: "token", value: .string(String(decoding: bytes, as: UTF8.self))),
      .init(key: "logprob", value: Self.number(logprob)),
      .init(key: "bytes", value: .array(bytes.map { .integer(Int64($0)) })),
    ]
  }

  /// JSON cannot represent minus infinity; OpenAI uses this number.
  static func number(_ logprob: Float) -> JSONValue { .number(Double(max(logprob, -9999))) }

  /// The arrays of /v1/completions; `offset` is where the text of the first token starts. Whole lists include
  /// end-of-text tokens, and null for the first token of a prompt.
  func completionLogprobs(_ tokens: [TokenInfo], offset: Int = 0, isWhole: Bool = false) -> JSONValue {
    let tokens = isWhole ? tokens : tokens.filter { !endOfText.contains($0.id) }
    var offsets: [JSONValue] = []
    var position = offset
    for token in tokens {
      offsets.append(.integer(Int64(position)))
      position += text(of: token.id).unicodeScalars.count
    }
    return .object([
      "tokens": .array(tokens.map { .string(text(of: $0.id)) }),
      "token_logprobs": .array(
        tokens.map { $0.logProbability.map(Self.number) ?? (isWhole ? .null : Self.number(0)) }),
      "top_logprobs": .array(
        tokens.map { token in
          if isWhole && token.logProbability == nil { return .null }
          var members: [JSONValue.Member] = []
          for top in token.topLogProbabilities where !members.contains(where: { $0.key == text(of: top.id) }) {
            members.append(.init(key: text(of: top.id), value: Self.number(top.logProbability)))
          }
          // The token itself is always among them, so that there may be one more than requested.
          if let own = token.logProbability, !members.contains(where: { $0.key == text(of: token.id) }) {
            members.append(.init(key: text(of: token.id), value: Self.number(own)))
          }
          return .object(members)
        }),
      "text_offset": .array(offsets),
    ])
  }
}
