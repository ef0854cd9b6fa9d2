// ConversationListModel: the sidebar: every conversation, or those that a search finds.
import Foundation
import Observation

/// The sidebar.
@MainActor @Observable
public final class ConversationListModel {
  /// What is searched for; empty shows all.
  public var query = "" {
    didSet { refresh() }
  }
  /// What the sidebar shows, pinned first, then newest first.
  public private(set) var hits: [SearchHit] = []
  /// The conversation that is open.
  public var selection: UUID?
  /// Why something could not be kept.
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

  /// Reads the list again; after something was said, for instance.
  public func refresh() { hits = store.search(query) }

  /// The open conversation's model. Conversations stay open while they answer, whatever is selected.
  public var transcript: TranscriptModel? { selection.flatMap { transcript(of: $0) } }

  /// The model of a conversation; the same one each time.
  public func transcript(of id: UUID) -> TranscriptModel? {
    if let model = open[id] { return model }
    guard let conversation = store.conversation(id) else { return nil }
    let model = TranscriptModel(conversation, store: store, engines: engines)
    open[id] = model
    return model
  }

  /// Begins a conversation and selects it. An empty one that is selected already is used again.
  @discardableResult
  public func begin(settings: ChatSettings = ChatSettings()) -> TranscriptModel? {
    if let transcript, transcript.messages.isEmpty { return transcript }
    let conversation = Conversation(settings: settings)
    keep { try store.save(conversation) }
    selection = conversation.id
    return transcript
  }

  /// Selects a conversation made elsewhere, by branching for instance.
  public func show(_ conversation: Conversation) {
    refresh()
    selection = conversation.id
  }

  /// Gives a conversation another title.
  public func rename(_ id: UUID, to title: String) { change(id) { $0.title = title } }

  /// Puts a conversation on top, or back among the others.
  public func togglePin(_ id: UUID) { change(id) { $0.isPinned.toggle() } }

  /// Stops what a conversation is answering and deletes it.
  public func remove(_ id: UUID) {
    open[id]?.stop()
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
