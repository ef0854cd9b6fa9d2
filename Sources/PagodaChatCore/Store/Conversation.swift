// Conversations and their messages as stored: a tree of messages per conversation, with one visible path.
import Foundation
import PagodaKit

/// A conversation without its messages.
public struct Conversation: Codable, Hashable, Sendable, Identifiable {
  /// Its permanent identity.
  public var id: UUID
  /// Title in the sidebar; empty until the first message sets it.
  public var title: String
  /// When it was created.
  public var createdAt: Date
  /// When the last message was added.
  public var updatedAt: Date
  /// Whether it stays at the top of the list.
  public var isPinned: Bool
  /// Generation settings.
  public var settings: ChatSettings
  /// The last message of the visible path; nil before the first message.
  public var leafID: UUID?
  /// The folder in the sidebar; nil for none.
  public var folder: String?
  /// The model of this chat; nil for the one that is loaded.
  public var modelName: String?
  /// Whether the title is the user's own, which nothing replaces; nil in files of earlier versions.
  public var hasOwnTitle: Bool?

  /// An empty conversation.
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

/// A message of a conversation. Messages with the same parent are alternatives: edited questions, or regenerated
/// answers.
public struct ChatMessage: Codable, Hashable, Sendable, Identifiable {
  /// Author of a message.
  public enum Role: String, Codable, Hashable, Sendable {
    /// The user.
    case user
    /// The model.
    case assistant
  }

  /// State of an answer.
  public enum State: Codable, Hashable, Sendable {
    /// It is complete.
    case complete
    /// It is being generated. In a loaded conversation: the program ended before the answer was complete.
    case streaming
    /// The user stopped it.
    case stopped
    /// It reached the token limit or the context length.
    case cutOff
    /// It failed for this reason.
    case failed(String)
  }

  /// Its permanent identity.
  public var id: UUID
  /// The conversation it belongs to.
  public var conversationID: UUID
  /// The preceding message; nil for the first.
  public var parentID: UUID?
  /// Its author.
  public var role: Role
  /// The text, in Markdown.
  public var text: String
  /// The model's reasoning before the answer; empty if there was none.
  public var reasoning: String
  /// State of the answer.
  public var state: State
  /// Token statistics of the answer.
  public var stats: TokenStats?
  /// The model that answered.
  public var modelName: String?
  /// When it was created.
  public var createdAt: Date
  /// Files attached to a question; nil for none.
  public var attachments: [Attachment]?
  /// Calls of tools in an answer; nil for none.
  public var toolRounds: [ToolRound]?

  /// A message; complete by default.
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

  /// The VoiceOver label of the whole message; its text is also read separately.
  public var spokenLabel: String {
    if role == .assistant { return modelName.map { localized("Answer of \($0)") } ?? localized("Answer of the model") }
    let count = attachments?.count ?? 0
    switch count {
    case 0: return localized("Your message")
    case 1: return localized("Your message with 1 file")
    default: return localized("Your message with \(count) files")
    }
  }

  /// The message in the engine's form. Reasoning of earlier turns is included: the template decides what to keep.
  var prompt: Message {
    switch role {
    case .user:
      .user(
        ((attachments ?? []).filter { $0.image == nil }.map(\.markdown) + (text.isEmpty ? [] : [text])).joined(
          separator: "\n\n"), images: (attachments ?? []).compactMap(\.image))
    case .assistant: Message(role: .assistant, content: text, reasoning: reasoning.isEmpty ? nil : reasoning)
    }
  }
}
