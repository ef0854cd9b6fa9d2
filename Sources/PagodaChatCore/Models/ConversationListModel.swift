// ConversationListModel: the sidebar: all conversations, or those matching a search.
import Foundation
import Observation

/// The sidebar.
@MainActor @Observable
public final class ConversationListModel {
  /// The search text; empty shows all.
  public var query = "" {
    didSet { refresh() }
  }
  /// The conversations shown, pinned first, then newest first.
  public private(set) var hits: [SearchHit] = []
  /// The conversation that is open.
  public var selection: UUID?
  /// Why something could not be saved.
  public var failure: ChatFailure?

  private let store: ConversationStore
  private let engines: EngineModel
  private var open: [UUID: TranscriptModel] = [:]

  /// The conversations of a store.
  public init(store: ConversationStore, engines: EngineModel) {
    self.store = store
    self.engines = engines
    refresh()
    selection = hits.first?.id
  }

  /// Reloads the list, for example after a new message.
  public func refresh() { hits = store.search(query) }

  /// The open conversation's model. Conversations keep streaming regardless of the selection.
  public var transcript: TranscriptModel? { selection.flatMap { transcript(of: $0) } }

  /// The model of a conversation; the same one each time.
  public func transcript(of id: UUID) -> TranscriptModel? {
    if let model = open[id] { return model }
    guard let conversation = store.conversation(id) else { return nil }
    let model = TranscriptModel(conversation, store: store, engines: engines)
    open[id] = model
    return model
  }

  /// Starts a conversation and selects it. Reuses the selected one if it is empty.
  @discardableResult
  public func begin(settings: ChatSettings = ChatSettings()) -> TranscriptModel? {
    if let transcript, transcript.messages.isEmpty { return transcript }
    let conversation = Conversation(settings: settings)
    keep { try store.save(conversation) }
    selection = conversation.id
    return transcript
  }

  /// Selects a conversation created elsewhere, for example by branching.
  public func show(_ conversation: Conversation) {
    refresh()
    selection = conversation.id
  }

  /// Changes a conversation's title.
  public func rename(_ id: UUID, to title: String) { change(id) { $0.title = title } }

  /// Pins or unpins a conversation.
  public func togglePin(_ id: UUID) { change(id) { $0.isPinned.toggle() } }

  /// Stops a conversation's answer in progress and deletes it.
  public func remove(_ id: UUID) {
    open[id]?.close()
    open[id] = nil
    keep { try store.remove(id) }
    if selection == id { selection = hits.first?.id }
  }

  private func change(_ id: UUID, _ body: (inout Conversation) -> Void) {
    guard var conversation = open[id]?.conversation ?? store.conversation(id) else { return }
    body(&conversation)
    open[id]?.conversation = conversation
    keep { try store.save(conversation) }
  }

  private func keep(_ work: () throws -> Void) {
    do { try work() } catch { failure = ChatFailure("The chats cannot be saved", error) }
    refresh()
  }
}
