// Requests with the caller's tokenizer and chat template instead of the model's own.

extension Engine {
  /// Queues a request and streams its answer, like ``submit(_:)``, with the caller's tokenizer and chat template: for
  /// models whose tokenizer Pagoda cannot read, or for comparison. Stop strings and grammars use the model's own
  /// tokenizer, so stop strings are refused here, and a grammar requires that the model has one.
  public func submit(_ request: Request, tokenizer: any ChatTokenizer) -> AnswerStream<Event> {
    stream(request, tokenizer)
  }

  /// Queues a request and waits for its whole answer, with the caller's tokenizer and chat template.
  public func respond(to request: Request, tokenizer: any ChatTokenizer) async throws -> Response {
    var collector = ResponseCollector()
    for try await event in submit(request, tokenizer: tokenizer) { collector.take(event) }
    return try collector.response()
  }

  func encode(_ request: Request, with tokenizer: any ChatTokenizer) throws -> EncodedPrompt {
    if !request.sampling.stopStrings.isEmpty {
      throw PagodaError.unsupported("stop strings need the model's own tokenizer; name stop tokens instead")
    }
    switch request.prompt {
    case .tokens(let ids): return EncodedPrompt(ids: ids, opening: .textOnly)
    case .text(let text):
      let ids = try tokenizer.encodeWithControlTokens(text)
      return EncodedPrompt(ids: ids, opening: .textOnly, hasThinkingTags: false)
    case .messages(let messages):
      if messages.contains(where: { !$0.images.isEmpty }) {
        throw PagodaError.unsupported("images need the model's own tokenizer and chat template")
      }
      let ids = try tokenizer.encode(messages, tools: request.tools, thinking: request.thinking)
      let text = try tokenizer.decode(ids, skippingSpecialTokens: false)
      return EncodedPrompt(ids: ids, opening: OutputParser.Opening(prompt: text), text: text)
    }
  }
}
