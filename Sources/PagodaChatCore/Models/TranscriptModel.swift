// TranscriptModel: one open conversation: what is shown, and the answer under way.
import Foundation
import Observation
import PagodaKit

/// One open conversation. Several may answer at the same time; each answers one message at a time.
@MainActor @Observable
public final class TranscriptModel: Identifiable {
  /// The conversation.
  public internal(set) var conversation: Conversation
  /// The messages on the path that is shown; the last one grows while it is answered.
  public internal(set) var messages: [ChatMessage] = []
  /// Why the last answer failed, or something could not be kept.
  public var failure: ChatFailure?
  /// Whether an answer is being made.
  public var isAnswering: Bool { answering != nil }
  /// What the answer under way, or else the last one, takes.
  public internal(set) var stats = TokenStats()

  let store: ConversationStore
  let engines: EngineModel
  var answering: Task<Void, Never>?
  var firstTokenAt: ContinuousClock.Instant?
  var savedAt = ContinuousClock.now

  /// The conversation's identity.
  public nonisolated let id: UUID

  /// Opens a conversation of the store, or one that is not in it yet. An answer that was being made when the program
  /// ended counts as stopped.
  public init(_ conversation: Conversation, store: ConversationStore, engines: EngineModel) {
    id = conversation.id
    self.conversation = conversation
    self.store = store
    self.engines = engines
    show(conversation.leafID)
    if var last = messages.last, last.state == .streaming {
      last.state = .stopped
      keep(last)
    }
    stats = messages.last?.stats ?? TokenStats()
  }

  /// How the answers are made.
  public var settings: ChatSettings {
    get { conversation.settings }
    set {
      conversation.settings = newValue
      keepConversation()
    }
  }

  /// Where a message stands among its alternatives, from 1; nil when it has none.
  public func alternative(of id: UUID) -> (number: Int, count: Int)? {
    let siblings = store.messages(of: self.id).siblings(of: id)
    guard siblings.count > 1, let index = siblings.firstIndex(of: id) else { return nil }
    return (index + 1, siblings.count)
  }

  /// Shows the alternative `offset` places after a message, and the newest path through it.
  public func showAlternative(of id: UUID, offset: Int) {
    guard !isAnswering else { return }
    let tree = store.messages(of: self.id)
    let siblings = tree.siblings(of: id)
    guard let index = siblings.firstIndex(of: id), siblings.indices.contains(index + offset) else { return }
    show(tree.newestLeaf(from: siblings[index + offset]))
    keepConversation()
  }

  /// The conversation in a form for others.
  public func export(_ form: ConversationExport) throws -> String {
    try form.text(of: conversation, store.messages(of: id))
  }

  /// Makes a path the one that is shown.
  func show(_ leaf: UUID?) {
    conversation.leafID = leaf
    messages = store.messages(of: id).path(to: leaf)
  }

  /// Puts a message at its place in the path and into the store.
  func keep(_ message: ChatMessage) {
    if let index = messages.lastIndex(where: { $0.id == message.id }) { messages[index] = message }
    attempt("The chat cannot be saved") { try store.save(message) }
  }

  func keepConversation() { attempt("The chat cannot be saved") { try store.save(conversation) } }

  func attempt(_ title: String, _ work: () throws -> Void) {
    do { try work() } catch { failure = ChatFailure(title, error) }
  }
}
