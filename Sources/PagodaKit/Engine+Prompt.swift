// From a request's prompt to token ids: chat template, then tokenizer.
internal import CxxCore

/// A prompt as the engine takes it.
struct EncodedPrompt {
  var ids: [Int32]
  /// How the answer begins, for telling reasoning from text.
  var opening: OutputParser.Opening
}

extension Engine {
  func encode(_ prompt: Request.Prompt, thinking: Bool?) throws -> EncodedPrompt {
    switch prompt {
    case .tokens(let ids):
      return EncodedPrompt(ids: ids, opening: .textOnly)
    case .text(let text):
      return EncodedPrompt(ids: try requireTokenizer().encode(text, parsingSpecialTokens: true), opening: .textOnly)
    case .messages(let messages):
      let rendered = try render(messages, thinking: thinking)
      let result = try requireTokenizer().core.encode_prompt(rendered.pieces)
      try result.status.throwIfError()
      return EncodedPrompt(ids: Array(result.ids), opening: OutputParser.Opening(prompt: String(rendered.text)))
    }
  }

  private func render(_ messages: [Message], thinking: Bool?) throws -> pagoda.RenderResult {
    guard let chatTemplate else {
      throw PagodaError.unsupported(
        info.chatTemplateError ?? "this model has no chat template; give it text or token ids")
    }
    var variables = [
      JSONValue.Member(key: "messages", value: .array(messages.map(\.json))),
      JSONValue.Member(key: "add_generation_prompt", value: .bool(true)),
    ]
    if let thinking { variables.append(.init(key: "enable_thinking", value: .bool(thinking))) }
    let result = chatTemplate.render(std.string(JSONValue.object(variables).text))
    try result.status.throwIfError()
    return result
  }

  private func requireTokenizer() throws -> Tokenizer {
    guard let tokenizer else { throw PagodaError.unsupported("this model has no tokenizer; give it token ids") }
    return tokenizer
  }
}
