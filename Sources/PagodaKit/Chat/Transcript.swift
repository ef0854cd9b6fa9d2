// Transcript: a conversation with its settings, which can be stored and continued.

/// A conversation with its settings, for saving and restoring a ``ChatSession``. Encode it with any encoder.
///
/// ```swift
/// let data = try JSONEncoder().encode(session.transcript)
/// let restored = ChatSession(engine, transcript: try JSONDecoder().decode(Transcript.self, from: data))
/// ```
///
/// Every later version reads what this one writes. Keys that are missing have their defaults, and unknown keys are
/// ignored; a file whose version is newer than ``version`` is refused.
public struct Transcript: Hashable, Sendable, Codable {
  /// The version of the saved form. It is raised only when an older reader would misunderstand a newer file.
  public static let version = 1

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

extension Transcript {
  private enum CodingKeys: CodingKey { case version, instructions, thinking, sampling, messages }

  /// Reads a transcript of this version or an earlier one; files without a version are of version 1.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let version = try fields.decodeIfPresent(Int.self, forKey: .version) ?? 1
    if version > Self.version {
      throw PagodaError.unsupported(
        "the saved chat has version \(version); this program reads versions up to \(Self.version)")
    }
    self.init(
      instructions: try fields.decodeIfPresent(String.self, forKey: .instructions),
      thinking: try fields.decodeIfPresent(Bool.self, forKey: .thinking),
      sampling: try fields.decodeIfPresent(SamplingParameters.self, forKey: .sampling) ?? SamplingParameters(),
      messages: try fields.decodeIfPresent([Message].self, forKey: .messages) ?? [])
  }

  /// Writes the transcript with its version.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(Self.version, forKey: .version)
    try fields.encodeIfPresent(instructions, forKey: .instructions)
    try fields.encodeIfPresent(thinking, forKey: .thinking)
    try fields.encode(sampling, forKey: .sampling)
    try fields.encode(messages, forKey: .messages)
  }
}
