// An engine with a tokenizer and a chat template that are not the model's own.
import PagodaKit
import PagodaMini
import Testing

/// The model's own tokenizer behind the protocol; `change` distinguishes its text from the model's own.
private struct OtherTokenizer: ChatTokenizer {
  var engine: Engine
  var own: Tokenizer
  var question: String?  // used in the template instead of the conversation
  var change: @Sendable (String) -> String = { $0 }
  var failure: PagodaError?

  func encodeWithControlTokens(_ text: String) throws -> [Int32] { try own.encodeWithControlTokens(text) }
  func decode(_ ids: [Int32], skippingSpecialTokens: Bool) throws -> String {
    if let failure, skippingSpecialTokens { throw failure }
    return change(try own.decode(ids, skippingSpecialTokens: skippingSpecialTokens))
  }
  func id(of token: String) -> Int32? { own.id(of: token) }
  func encode(_ messages: [Message], tools: [ToolDefinition], thinking: Bool?) throws -> [Int32] {
    let messages = question.map { [Message.user($0)] } ?? messages
    return try engine.encode(.messages(messages), tools: tools.map { try $0.json() }, thinking: thinking).ids
  }
}

/// Each id is a byte.
private struct ByteTokenizer: TextTokenizer {
  func encodeWithControlTokens(_ text: String) throws -> [Int32] { text.utf8.map { Int32($0) } }
  func decode(_ ids: [Int32], skippingSpecialTokens: Bool) throws -> String {
    String(decoding: ids.map { UInt8($0) }, as: UTF8.self)
  }
  func id(of token: String) -> Int32? { nil }
}

@Suite struct ChatTokenizerTests {
  private func withEngine(_ body: (Engine, OtherTokenizer) async throws -> Void) async throws {
    let engine = try await Engine.load(.mini)
    try await body(engine, OtherTokenizer(engine: engine, own: try #require(engine.tokenizer)))
    await engine.shutDown()
  }

  @Test func an_equal_tokenizer_gives_an_equal_answer() async throws {
    try await withEngine { engine, tokenizer in
      for thinking in [nil, true] {
        let request = Request("What is the capital of France?", thinking: thinking)
        let (own, other) = (
          try await engine.respond(to: request), try await engine.respond(to: request, tokenizer: tokenizer)
        )
        #expect(other.text == own.text && other.text.contains("Paris"))
        #expect(other.reasoning == own.reasoning && other.usage.promptTokens == own.usage.promptTokens)
      }
      var plain = Request(prompt: .text("Hello"))
      plain.sampling.maximumTokens = 5
      #expect(
        try await engine.respond(to: plain, tokenizer: tokenizer).text == (try await engine.respond(to: plain).text))
    }
  }

  @Test func the_template_and_the_text_are_of_the_tokenizer_that_is_given() async throws {
    try await withEngine { engine, tokenizer in
      var other = tokenizer
      other.question = "What is the capital of Japan?"
      other.change = { $0.uppercased() }
      let answer = try await engine.respond(to: Request("What is the capital of France?"), tokenizer: other)
      #expect(answer.text.contains("TOKYO"), "\(answer.text)")
    }
  }

  @Test func unsupported_operations_are_reported() async throws {
    try await withEngine { engine, tokenizer in
      var stops = Request("Hello")
      stops.sampling.stopStrings = ["."]
      let refusal = await #expect(throws: PagodaError.self) {
        try await engine.respond(to: stops, tokenizer: tokenizer)
      }
      #expect(refusal?.message.contains("stop strings") == true)
      var broken = tokenizer
      broken.failure = .badFile("no such id")
      await #expect(throws: PagodaError.badFile("no such id")) {
        try await engine.respond(to: Request("Hello"), tokenizer: broken)
      }
    }
  }

  @Test func characters_of_several_tokens_come_whole() throws {
    let text = "aé日🏯é\u{301}z"
    var decoder = AnswerDecoder(ByteTokenizer())
    var chunks = try text.utf8.map { try decoder.push(Int32($0)) }
    chunks.append(try decoder.finish())
    #expect(chunks.joined().unicodeScalars.elementsEqual(text.unicodeScalars))
    #expect(chunks.allSatisfy { !$0.contains("\u{FFFD}") } && chunks.filter { !$0.isEmpty }.count == 7)
    #expect(try decoder.push(0xE6) == "" && decoder.push(0x97) == "")
    #expect(try decoder.finish() == "\u{FFFD}")
    for _ in 0..<100 { _ = try decoder.push(0xFF) }  // at most the length of one character is held back
    #expect(try decoder.finish().unicodeScalars.count < 8)
  }
}
