// Tokenizer: text to token ids and back.
internal import CxxCore

/// Text to token ids and back, according to the model's `tokenizer.json`. Can be used from any thread.
///
/// ```swift
/// let tokenizer = try await Tokenizer.load(.folder(path: "Models/Qwen3.5-0.8B"))
/// print(try tokenizer.decode(tokenizer.encode("Hello")))
/// ```
public final class Tokenizer: Sendable {
  let core: pagoda.Tokenizer

  init(_ core: pagoda.Tokenizer) { self.core = core }

  /// Reads a tokenizer without loading the model.
  public static func load(_ source: ModelSource) async throws -> Tokenizer {
    let source = try await source.here()
    return try await offCooperativePool {
      var status = pagoda.Status()
      let core = pagoda.load_tokenizer(source.core, &status)
      try status.throwIfError()
      guard let core else { throw PagodaError.internal("the tokenizer did not load and gave no reason") }
      return Tokenizer(core)
    }
  }

  /// Token ids of `text`. Control tokens in the text, such as `<|im_end|>`, stay text unless `parsingSpecialTokens` is
  /// true.
  public func encode(_ text: String, parsingSpecialTokens: Bool = false) throws -> [Int32] {
    let result = core.encode(std.string(text), parsingSpecialTokens)
    try result.status.throwIfError()
    return Array(result.ids)
  }

  /// Ids that precede a text not rendered by a chat template, such as `<|begin_of_text|>` of Llama 3, according to
  /// `post_processor` in `tokenizer.json`; usually empty.
  public var startTokens: [Int32] { Array(core.start_ids()) }

  /// Ids that follow a text that will not be continued, such as one to embed; usually empty.
  public var endTokens: [Int32] { Array(core.end_ids()) }

  /// The text of token ids; bytes that form no character become U+FFFD, and ids without a token have no text (models
  /// have more ids than tokenizers, and may sample them).
  public func decode(_ ids: [Int32], skippingSpecialTokens: Bool = true) throws -> String {
    let result = core.decode(.init(ids), skippingSpecialTokens)
    try result.status.throwIfError()
    return String(result.text)
  }

  /// All token ids are below this number.
  public var vocabularySize: Int { Int(core.vocab_size()) }

  /// The id of a token by its spelling in `tokenizer.json`.
  public func id(of token: String) -> Int32? {
    let id = core.token_id(std.string(token))
    return id < 0 ? nil : id
  }

  /// A token's spelling in `tokenizer.json`; nil for an unknown id.
  public func spelling(of id: Int32) -> String? {
    let spelling = String(core.token_text(id))
    return spelling.isEmpty ? nil : spelling
  }

  /// Whether the id is a control token.
  public func isSpecial(_ id: Int32) -> Bool { core.is_special(id) }
}

extension Tokenizer: TextTokenizer {
  /// `encode` with `parsingSpecialTokens`.
  public func encodeWithControlTokens(_ text: String) throws -> [Int32] { try encode(text, parsingSpecialTokens: true) }
}
