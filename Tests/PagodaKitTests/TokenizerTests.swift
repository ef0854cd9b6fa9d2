// The tokenizer through its Swift API.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@Suite struct TokenizerTests {
  @Test(arguments: [
    "", "Hello, world!", "  two  spaces\n\ttab", "naïve café — 東京 👩‍👩‍👧", "a\u{0}b", "<|im_end|>",
  ])
  func text_survives_the_round_trip(_ text: String) async throws {
    let tokenizer = try await Tokenizer.load(.mini)
    let ids = try tokenizer.encode(text)
    #expect(try tokenizer.decode(ids, skippingSpecialTokens: false) == text)
    #expect(ids.allSatisfy { $0 >= 0 && $0 < tokenizer.vocabularySize })
  }

  @Test func control_tokens_count_only_when_asked() async throws {
    let tokenizer = try await Tokenizer.load(.mini)
    let id = try #require(tokenizer.id(of: "<|im_end|>"))
    #expect(try tokenizer.encode("<|im_end|>", parsingSpecialTokens: true) == [id])
    #expect(try !tokenizer.encode("<|im_end|>").contains(id))
    #expect(tokenizer.isSpecial(id))
    #expect(tokenizer.spelling(of: id) == "<|im_end|>")
    #expect(try tokenizer.decode([id]) == "")
  }

  @Test func a_text_without_template_begins_as_the_tokenizer_says() async throws {
    let files = FileManager.default
    let mini = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/MiniModel/files")
    let folder = files.temporaryDirectory.appending(path: "pagoda-start-\(UUID().uuidString)")
    try files.copyItem(at: mini, to: folder)
    defer { try? files.removeItem(at: folder) }
    let file = folder.appending(path: "tokenizer.json")
    let id = try #require(try await Tokenizer.load(.mini).id(of: "<|endoftext|>"))
    let single = #""single": [{"SpecialToken": {"id": "start"}}, {"Sequence": {"id": "A"}}]"#
    let processor =
      #"{"type": "TemplateProcessing", \#(single), "special_tokens": {"start": {"ids": [\#(id)]}}}"#
    let text = try String(contentsOf: file, encoding: .utf8)
    try text.replacing("\"post_processor\": null", with: "\"post_processor\": " + processor)
      .write(to: file, atomically: true, encoding: .utf8)

    var sampling = SamplingParameters()
    sampling.maximumTokens = 1
    func promptTokens(_ engine: Engine, _ prompt: Request.Prompt) async throws -> Int {
      try await engine.respond(to: Request(prompt: prompt, sampling: sampling)).completion.usage.promptTokens
    }
    let (engine, plain) = (try await Engine.load(.folder(path: folder.path)), try await Shared.engine)
    #expect(engine.tokenizer?.startTokens == [id] && plain.tokenizer?.startTokens == [])
    let count = try await promptTokens(plain, .text("Hello"))
    #expect(try await promptTokens(engine, .text("Hello")) == count + 1)
    #expect(try await promptTokens(engine, .text("<|endoftext|>Hello")) == count + 1)  // not added twice
    #expect(try await promptTokens(engine, .tokens([id])) == 1)
    let chat = Request.Prompt.messages([.user("Hello")])
    #expect(try await promptTokens(engine, chat) == promptTokens(plain, chat))  // in chats that is left to the template
    await engine.shutDown()
  }

  @Test func unknown_ids_and_tokens_are_not_found() async throws {
    let tokenizer = try await Tokenizer.load(.mini)
    #expect(tokenizer.id(of: "no such token") == nil)
    #expect(tokenizer.spelling(of: -1) == nil)
    #expect(try tokenizer.decode([-1, 1 << 30]) == "")
  }
}
