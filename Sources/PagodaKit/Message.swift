// Message: one turn of a conversation.

/// One turn of a conversation.
public struct Message: Hashable, Sendable {
  /// Who speaks.
  @frozen
  public enum Role: String, Hashable, Sendable, CaseIterable {
    /// Instructions that stand above the conversation.
    case system
    /// The person.
    case user
    /// The model.
    case assistant
    /// The result of a tool the model called.
    case tool
  }

  /// Who speaks.
  public var role: Role
  /// What is said. Text that spells a control token stays text.
  public var content: String
  /// What the model thought before it answered; only for `.assistant`.
  public var reasoning: String?

  /// A message of the given role.
  public init(role: Role, content: String, reasoning: String? = nil) {
    self.role = role
    self.content = content
    self.reasoning = reasoning
  }

  /// Instructions that stand above the conversation.
  public static func system(_ content: String) -> Message { Message(role: .system, content: content) }
  /// A message of the person.
  public static func user(_ content: String) -> Message { Message(role: .user, content: content) }
  /// An answer of the model.
  public static func assistant(_ content: String) -> Message { Message(role: .assistant, content: content) }
}

extension Message {
  /// The member order is fixed: templates that print a message must print it the same way each turn.
  var json: JSONValue {
    var members = [
      JSONValue.Member(key: "role", value: .string(role.rawValue)),
      JSONValue.Member(key: "content", value: .string(content)),
    ]
    if let reasoning { members.append(.init(key: "reasoning_content", value: .string(reasoning))) }
    return .object(members)
  }
}
