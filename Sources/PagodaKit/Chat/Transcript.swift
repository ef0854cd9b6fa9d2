// Transcript: a conversation with its settings, which can be stored and continued.

/// A conversation with its settings, for saving and restoring a ``ChatSession``. Encode it with any encoder.
public struct Transcript: Hashable, Sendable, Codable {
  /// The system prompt.
  public var instructions: String?
  /// Whether the model thinks before it answers; nil leaves it to the chat template.
  public var thinking: Bool?
  /// How tokens are sampled.
  public var sampling: SamplingParameters
  /// All messages, including tool calls and their results.
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
