// From a request's prompt to token ids: chat template, then tokenizer.
internal import CxxCore

/// A prompt as the engine takes it.
package struct EncodedPrompt: Sendable {
  package var ids: [Int32]
  /// How the answer starts, to separate reasoning from text.
  package var opening: OutputParser.Opening
  /// The text rendered by the chat template; empty for other prompts.
  package var text = ""
  /// Whether thinking tags in it are deliberate control tokens: written by the template, or ids chosen by the caller.
  /// Text that spells a tag only mentions it.
  package var hasThinkingTags = true
  /// Its images, by position.
  package var images: [PlacedImage] = []
}

extension Engine {
  /// The number of tokens of a request's prompt as the model would read it, including chat template and tools.
  public func tokenCount(of request: Request) throws -> Int {
    try request.refuseToolsWithoutConversation()
    return try encode(request, tools: request.tools.map { try $0.json() }).encoded.ids.count
  }

  /// The prompt as the model would read it, which depends on the request's context policy.
  func encode(_ request: Request, tools: [JSONValue]) throws -> TrimmedPrompt {
    guard request.contextPolicy == .trim, case .messages(let messages) = request.prompt else {
      return TrimmedPrompt(encoded: try encode(request.prompt, tools: tools, thinking: request.thinking))
    }
    let chat = ChatPrompt(messages, tools: tools, thinking: request.thinking)
    return try encodeTrimmed(chat, maximumTokens: request.sampling.maximumTokens)
  }

  package func encode(
    _ prompt: Request.Prompt, tools: [JSONValue] = [], thinking: Bool?
  ) throws -> EncodedPrompt {
    switch prompt {
    case .tokens(let ids):
      return EncodedPrompt(ids: ids, opening: .textOnly)
    case .text(let text):
      let tokenizer = try requireTokenizer()
      let ids = try tokenizer.encode(text, parsingSpecialTokens: true)
      let start = tokenizer.startTokens  // only once, even if the text spells it
      return EncodedPrompt(
        ids: ids.starts(with: start) ? ids : start + ids, opening: .textOnly, hasThinkingTags: false)
    case .messages(let messages):
      return try encode(ChatPrompt(messages, tools: tools, thinking: thinking))
    }
  }

  package func encode(_ chat: ChatPrompt) throws -> EncodedPrompt {
    if !chat.images.isEmpty { try info.refuseImagesWithoutTower() }
    guard let chatTemplate else {
      throw PagodaError.unsupported(
        info.chatTemplateError ?? "this model has no chat template; use text or token ids")
    }
    let rendered = chatTemplate.render(std.string(chat.json.text))
    try rendered.status.throwIfError()
    let result = try requireTokenizer().core.encode_prompt(rendered.segments)
    try result.status.throwIfError()
    let text = String(rendered.text)
    // A tag at the end of a message opens nothing: only the template's last segment counts.
    let end = rendered.segments.last.map { $0.from_template ? String($0.text) : "" } ?? ""
    let (ids, images) = try place(chat.usedImages, in: Array(result.ids))
    return EncodedPrompt(ids: ids, opening: OutputParser.Opening(prompt: end), text: text, images: images)
  }

  private func requireTokenizer() throws -> Tokenizer {
    guard let tokenizer else { throw PagodaError.unsupported("this model has no tokenizer; use token ids") }
    return tokenizer
  }
}

extension Request {
  func refuseToolsWithoutConversation() throws {
    if case .messages = prompt { return }
    if tools.isEmpty { return }
    throw PagodaError.invalidArgument("tools need a conversation; they cannot be used with a prompt of text or tokens")
  }
}
