// Message: one turn of a conversation.

/// One turn of a conversation.
///
/// ```swift
/// let talk: [Message] = [.user("My name is Priya."), .assistant("Hello Priya!"), .user("What is my name?")]
/// print(try await engine.respond(to: talk))
/// ```
public struct Message: Hashable, Sendable {
  /// The role of the speaker.
  public enum Role: String, Hashable, Sendable, Codable, CaseIterable {
    /// Instructions for the conversation (the system prompt).
    case system
    /// The user.
    case user
    /// The model.
    case assistant
    /// The result of a tool call.
    case tool
  }

  /// Text or an image. Later versions may add cases.
  public enum Part: Hashable, Sendable {
    /// Text. What spells a control token stays text.
    case text(String)
    /// An image.
    case image(ImageInput)
  }

  /// The role of the speaker.
  public var role: Role
  /// Text and images, in the order in which the model reads them.
  public var parts: [Part]
  /// The model's thinking before its answer; only for `.assistant`.
  public var reasoning: String?
  /// The tool calls of the model; only for `.assistant`.
  public var toolCalls: [ToolCall]
  /// The id of the call that this message answers; only for `.tool`.
  public var toolCallID: String?

  /// A message with the given role.
  public init(
    role: Role, content: String, reasoning: String? = nil, toolCalls: [ToolCall] = [], toolCallID: String? = nil
  ) {
    self.init(role: role, parts: content.isEmpty ? [] : [.text(content)])
    self.reasoning = reasoning
    self.toolCalls = toolCalls
    self.toolCallID = toolCallID
  }

  /// A message of text and images.
  public init(role: Role, parts: [Part]) {
    self.role = role
    self.parts = parts
    toolCalls = []
  }

  /// Instructions for the conversation (the system prompt).
  public static func system(_ content: String) -> Message { Message(role: .system, content: content) }
  /// A message of the user.
  public static func user(_ content: String) -> Message { Message(role: .user, content: content) }
  /// A message of the user with images, which the model reads before the text.
  public static func user(_ content: String, images: [ImageInput]) -> Message {
    Message(role: .user, parts: images.map { .image($0) } + (content.isEmpty ? [] : [.text(content)]))
  }
  /// An answer of the model.
  public static func assistant(_ content: String) -> Message { Message(role: .assistant, content: content) }
  /// The result of a tool call.
  public static func tool(_ content: String, callID: String) -> Message {
    Message(role: .tool, content: content, toolCallID: callID)
  }
}

extension Message {
  /// The text of all parts, without the images. Text that spells a control token stays text. Setting it replaces the
  /// text; images are kept and come before it.
  public var content: String {
    get {
      if case .text(let text)? = parts.first, parts.count == 1 { return text }
      return parts.map { if case .text(let text) = $0 { text } else { "" } }.joined()
    }
    set { parts = images.map { .image($0) } + (newValue.isEmpty ? [] : [.text(newValue)]) }
  }

  /// The images, in order.
  public var images: [ImageInput] { parts.compactMap { if case .image(let image) = $0 { image } else { nil } } }

  /// The message as chat templates read it, for those that get no images.
  package var json: JSONValue {
    var images: [ImageInput] = []
    return json(adding: &images)
  }

  /// The member order is fixed: templates that print a message must print it the same way each turn. Images are added to
  /// `images`, and their parts name their positions there.
  func json(adding images: inout [ImageInput]) -> JSONValue {
    var members = [
      JSONValue.Member(key: "role", value: .string(role.rawValue)),
      JSONValue.Member(key: "content", value: .string(content)),
    ]
    if !self.images.isEmpty { members[1].value = .array(parts.map { $0.json(adding: &images) }) }
    if let reasoning { members.append(.init(key: "reasoning_content", value: .string(reasoning))) }
    if !toolCalls.isEmpty { members.append(.init(key: "tool_calls", value: .array(toolCalls.map(\.json)))) }
    if let toolCallID { members.append(.init(key: "tool_call_id", value: .string(toolCallID))) }
    return .object(members)
  }
}

extension Message.Part {
  /// The part as chat templates read it.
  package func json(adding images: inout [ImageInput]) -> JSONValue {
    switch self {
    case .text(let text): return .object(["type": .string("text"), "text": .string(text)])
    case .image(let image):
      images.append(image)
      return .object(["type": .string("image"), "image_index": .integer(Int64(images.count - 1))])
    }
  }
}
