// ChatTokenizer: a tokenizer with a chat template, for use instead of the model's own.

/// A tokenizer with a chat template, which ``Engine/submit(_:tokenizer:)`` uses instead of the model's own, such as
/// `HubTokenizer` of the product PagodaTransformers.
///
/// ```swift
/// for try await event in engine.submit(Request("Hello!"), tokenizer: myTokenizer) { print(event) }
/// ```
public protocol ChatTokenizer: TextTokenizer {
  /// Token ids of a conversation rendered by the chat template, ready for the answer.
  /// - Parameters:
  ///   - messages: the conversation, oldest message first.
  ///   - tools: tools that the answer may call.
  ///   - thinking: whether the model thinks before it answers; nil leaves it to the template.
  func encode(_ messages: [Message], tools: [ToolDefinition], thinking: Bool?) throws -> [Int32]
}
