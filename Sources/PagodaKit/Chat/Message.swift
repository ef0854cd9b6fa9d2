// Message: one turn of a conversation.

/// One turn of a conversation.
///
/// ```swift
/// let talk: [Message] = [.user("My name is Priya."), .assistant("Hello Priya!"), .user("What is my name?")]
/// print(try await engine.respond(to: talk))
/// ```
public struct Message: Hashable, Sendable, Codable {
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

  /// The role of the speaker.
  public var role: Role
  /// The text. Text that spells a control token stays text.
  public var content: String
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
    self.role = role
    self.content = content
    self.reasoning = reasoning
    self.toolCalls = toolCalls
    self.toolCallID = toolCallID
  }

  /// Missing keys other than the role get their defaults, so that files of other versions can be read.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      role: try fields.decode(Role.self, forKey: .role),
      content: try fields.decodeIfPresent(String.self, forKey: .content) ?? "",
      reasoning: try fields.decodeIfPresent(String.self, forKey: .reasoning),
      toolCalls: try fields.decodeIfPresent([ToolCall].self, forKey: .toolCalls) ?? [],
      toolCallID: try fields.decodeIfPresent(String.self, forKey: .toolCallID))
  }

  /// Instructions for the conversation (the system prompt).
  public static func system(_ content: String) -> Message { Message(role: .system, content: content) }
  /// A message of the user.
  public static func user(_ content: String) -> Message { Message(role: .user, content: content) }
  /// An answer of the model.
  public static func assistant(_ content: String) -> Message { Message(role: .assistant, content: content) }
  /// The result of a tool call.
  public static func tool(_ content: String, callID: String) -> Message {
    Message(role: .tool, content: content, toolCallID: callID)
  }
}

extension Message {
  /// The member order is fixed: templates that print a message must print it the same way each turn.
  package var json: JSONValue {
    var members = [
      JSONValue.Member(key: "role", value: .string(role.rawValue)),
      JSONValue.Member(key: "content", value: .string(content)),
    ]
    if let reasoning { members.append(.init(key: "reasoning_content", value: .string(reasoning))) }
    if !toolCalls.isEmpty { members.append(.init(key: "tool_calls", value: .array(toolCalls.map(\.json)))) }
    if let toolCallID { members.append(.init(key: "tool_call_id", value: .string(toolCallID))) }
    return .object(members)
  }
}
