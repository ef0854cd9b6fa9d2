// The tokenizer through its Swift API.
import PagodaKit
import Testing

@Suite struct TokenizerTests {
  @Test func text_survives_the_round_trip() async throws {
    let tokenizer = try await Tokenizer.load(.mini)
    for text in ["", "Hello, world!", "  two  spaces\n\ttab", "naïve café — 東京 👩‍👩‍👧", "a\u{0}b", "<|im_end|>"] {
      let ids = try tokenizer.encode(text)
      #expect(try tokenizer.decode(ids, skippingSpecialTokens: false) == text)
      #expect(ids.allSatisfy { $0 >= 0 && $0 < tokenizer.vocabularySize })
    }
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

  @Test func unknown_ids_and_tokens_are_told() async throws {
    let tokenizer = try await Tokenizer.load(.mini)
    #expect(tokenizer.id(of: "no such token") == nil)
    #expect(tokenizer.spelling(of: -1) == nil)
    #expect(try tokenizer.decode([-1, 1 << 30]) == "")
  }
}
