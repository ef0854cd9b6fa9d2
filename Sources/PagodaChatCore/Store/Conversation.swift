// Conversations and their messages as they are kept: a tree of messages per conversation, one path of which is shown.
import Foundation
import PagodaKit

/// A conversation without its messages.
public struct Conversation: Codable, Hashable, Sendable, Identifiable {
  /// Its lasting identity.
  public var id: UUID
  /// What the sidebar shows; empty until the first message names it.
  public var title: String
  /// When it began.
  public var createdAt: Date
  /// When something was last said.
  public var updatedAt: Date
  /// Whether it stays on top of the list.
  public var isPinned: Bool
  /// How its answers are made.
  public var settings: ChatSettings
  /// The last message of the path that is shown; nil before the first message.
  public var leafID: UUID?

  /// A conversation in which nothing was said yet.
  public init(id: UUID = UUID(), title: String = "", createdAt: Date = Date(), settings: ChatSettings = ChatSettings())
  {
    self.id = id
    self.title = title
    self.createdAt = createdAt
    updatedAt = createdAt
    isPinned = false
    self.settings = settings
  }
}

/// A message of a conversation. Messages with the same parent are alternatives: edits of a question, or further answers.
public struct ChatMessage: Codable, Hashable, Sendable, Identifiable {
  /// Who speaks.
  public enum Role: String, Codable, Hashable, Sendable {
    /// The person.
    case user
    /// The model.
    case assistant
  }

  /// How far an answer got.
  public enum State: Codable, Hashable, Sendable {
    /// It is whole.
    case complete
    /// It is being made; found in a store, it says that the program ended meanwhile.
    case streaming
    /// The person stopped it.
    case stopped
    /// It ran into the token limit or the context length.
    case cutOff
    /// It failed, for this reason.
    case failed(String)
  }

  /// Its lasting identity.
  public var id: UUID
  /// The conversation it belongs to.
  public var conversationID: UUID
  /// The message before it; nil for the first.
  public var parentID: UUID?
  /// Who speaks.
  public var role: Role
  /// What is said, in Markdown.
  public var text: String
  /// What the model thought before it answered; empty if it did not.
  public var reasoning: String
  /// How far it got.
  public var state: State
  /// What the answer took.
  public var stats: TokenStats?
  /// The model that answered.
  public var modelName: String?
  /// When it began.
  public var createdAt: Date

  /// A message that is whole unless `state` says otherwise.
  public init(
    id: UUID = UUID(), conversationID: UUID, parentID: UUID?, role: Role, text: String, reasoning: String = "",
    state: State = .complete, modelName: String? = nil, createdAt: Date = Date()
  ) {
    self.id = id
    self.conversationID = conversationID
    self.parentID = parentID
    self.role = role
    self.text = text
    self.reasoning = reasoning
    self.state = state
    self.modelName = modelName
    self.createdAt = createdAt
  }

  /// The message as the engine takes it. Thinking of earlier turns is given back: the template decides what to keep.
  var prompt: Message {
    switch role {
    case .user: .user(text)
    case .assistant: Message(role: .assistant, content: text, reasoning: reasoning.isEmpty ? nil : reasoning)
    }
  }
}
