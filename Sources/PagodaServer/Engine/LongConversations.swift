// Conversations that do not fit: reported by their tokens, or shortened if the request allows it.
import PagodaKit

extension Generator {
  func encode(_ chat: ChatPrompt, of generation: Generation, omitted: inout Int) throws -> EncodedPrompt {
    let part = generation.promptField
    guard generation.contextPolicy == .trim else { return try encode(chat, called: part) }
    let trimmed = try refusingLength(of: chat, called: part) {
      try engine.encodeTrimmed(chat, maximumTokens: generation.request.sampling.maximumTokens)
    }
    omitted = trimmed.omittedMessages
    return trimmed.encoded
  }

  /// `part`: the field of the request that the conversation is.
  func encode(_ chat: ChatPrompt, called part: String) throws -> EncodedPrompt {
    try refusingLength(of: chat, called: part) { try engine.encode(chat) }
  }

  /// A conversation beyond what a template may print is too long for the model too: its texts and tools alone show it.
  private func refusingLength<Encoded>(
    of chat: ChatPrompt, called part: String, _ encode: () throws -> Encoded
  ) throws -> Encoded {
    do {
      return try encode()
    } catch PagodaError.resourceExhausted(let message) {
      let texts = chat.messages.compactMap { $0["content"]?.stringValue } + chat.tools.map(\.text)
      let count = try texts.reduce(0) {
        try $0 + (engine.tokenizer?.encode($1, parsingSpecialTokens: false).count ?? 0)
      }
      if count >= engine.info.plan.maximumModelLength { throw tooLong(count, part) }
      throw PagodaError.resourceExhausted(message)
    }
  }

  /// The wording is OpenAI's, because clients look for it before they shorten a conversation.
  func tooLong(_ count: Int, _ part: String) -> APIError {
    .invalid(
      "This model's maximum context length is \(engine.info.plan.maximumModelLength) tokens. However, your \(part) "
        + "resulted in \(count) tokens, which leaves no room for an answer. Please reduce the length of the \(part).",
      param: part, code: "context_length_exceeded")
  }
}
