// TextTokenizer: the interface shared by Pagoda's own tokenizer and those of other libraries.

/// Text to token ids and back.
///
/// ``Tokenizer`` is Pagoda's own. `HubTokenizer` of the product PagodaTransformers wraps those of swift-transformers
/// and needs the package trait `Transformers`; without the trait no package is downloaded.
public protocol TextTokenizer: Sendable {
  /// Token ids of `text`; control tokens in the text, such as `<|im_end|>`, are recognised.
  func encodeWithControlTokens(_ text: String) throws -> [Int32]

  /// The text of token ids.
  func decode(_ ids: [Int32], skippingSpecialTokens: Bool) throws -> String

  /// The id of a token by its spelling in `tokenizer.json`.
  func id(of token: String) -> Int32?
}
