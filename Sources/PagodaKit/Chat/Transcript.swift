// Transcript: a conversation with how it is answered, to be stored and gone on with.

/// A conversation with how it is answered; what a ``ChatSession`` is saved as and restored from. Encode it with any encoder.
public struct Transcript: Hashable, Sendable, Codable {
  /// The system prompt.
  public var instructions: String?
  /// Whether the model thinks before it answers; nil leaves it to the chat template.
  public var thinking: Bool?
  /// How answers pick their tokens.
  public var sampling: SamplingParameters
  /// All messages, tool calls and their results included.
  public var messages: [Message]

  /// A conversation.
  public init(
    instructions: String? = nil, thinking: Bool? = nil, sampling: SamplingParameters = SamplingParameters(),
    messages: [Message] = []
  ) {
    self.instructions = instructions
    self.thinking = thinking
    self.sampling = sampling
    self.messages = messages
  }
}
