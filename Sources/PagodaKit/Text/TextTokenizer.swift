// TextTokenizer: what every tokenizer here has in common, Pagoda's own and those of other libraries.

/// Text to token ids and back, and conversations to token ids.
///
/// ``Tokenizer`` is Pagoda's own, on every platform. On macOS and iOS `HubTokenizer` has the same over swift-transformers.
/// Both give what `Tests/Fixtures/golden` says, which is what the Python libraries give.
public protocol TextTokenizer: Sendable {
  /// Token ids of `text`, with spelled control tokens such as `<|im_end|>` counting as such.
  func encodeWithControlTokens(_ text: String) throws -> [Int32]

  /// The text of token ids.
  func decode(_ ids: [Int32], skippingSpecialTokens: Bool) throws -> String

  /// The id of a token by its spelling in `tokenizer.json`.
  func id(of token: String) -> Int32?
}
