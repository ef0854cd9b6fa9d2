// ConversationListModel: the sidebar of one window: all conversations, or those matching a search.
import Foundation
import Observation

/// The conversations of one folder.
public struct SidebarSection: Hashable, Sendable, Identifiable {
  /// The folder; empty for conversations without one.
  public var folder: String
  /// Its conversations.
  public var hits: [SearchHit]
  /// The folder.
  public var id: String { folder }
}

/// The sidebar of one window.
@MainActor @Observable
public final class ConversationListModel {
  /// The search text; empty shows all.
  public var query = "" {
    didSet { reload() }
  }
  /// The conversations shown, pinned first, then newest first.
  public private(set) var hits: [SearchHit] = []
  /// The conversation that is open.
  public var selection: UUID?
  /// The conversation about to be deleted, while the user is asked to confirm.
  public private(set) var removalCandidate: Conversation?
  /// Deleted conversations that can be restored; the oldest is dropped first.
  public private(set) var removed: [RemovedConversation] = []
  /// Why something could not be saved.
  public var failure: ChatFailure?

  let pool: TranscriptPool

  /// The conversations of a store.
  public convenience init(store: ConversationStore, engines: EngineModel) {
    self.init(pool: TranscriptPool(store: store, engines: engines))
  }

  /// The conversations of a pool, which other windows may also show.
  init(pool: TranscriptPool, selection: UUID? = nil) {
    self.pool = pool
    pool.add(self)
    reload()
    self.selection = hits.first { $0.id == selection }?.id ?? hits.first?.id
  }

  /// Reloads the list in every window, for example after a new message.
  public func refresh() { pool.refresh() }

  func reload() { hits = pool.store.search(query) }

  func deselect(_ id: UUID) {
    reload()
    if selection == id { selection = hits.first?.id }
  }

  /// The open conversation's model. Conversations keep streaming regardless of the selection.
  public var transcript: TranscriptModel? { selection.flatMap { transcript(of: $0) } }

  /// Whether a conversation is being answered. Does not open it.
  public func isAnswering(_ id: UUID) -> Bool { pool.openTranscript(id)?.isAnswering == true }

  /// The model of a conversation; the same one each time.
  public func transcript(of id: UUID) -> TranscriptModel? { pool.transcript(of: id) }

  /// Starts a conversation and selects it. Reuses the selected one if it is empty.
  @discardableResult
  public func begin(settings: ChatSettings = ChatSettings()) -> TranscriptModel? {
    if let transcript, transcript.messages.isEmpty { return transcript }
    let conversation = Conversation(settings: settings)
    keep { try pool.store.save(conversation) }
    selection = conversation.id
    return transcript
  }

  /// Starts a conversation that no window has to show. Nil, with a failure, if it cannot be saved.
  func addChat(settings: ChatSettings) -> TranscriptModel? {
    let conversation = Conversation(settings: settings)
    keep { try pool.store.save(conversation) }
    return transcript(of: conversation.id)
  }

  /// Selects a conversation created elsewhere, for example by branching.
  public func show(_ conversation: Conversation) {
    refresh()
    selection = conversation.id
  }

  /// Changes a conversation's title.
  public func rename(_ id: UUID, to title: String) {
    change(id) {
      $0.title = title
      $0.hasOwnTitle = true
    }
  }

  /// Puts a conversation into a folder of the sidebar; nil or an empty name takes it out.
  public func move(_ id: UUID, to folder: String?) {
    let name = folder?.trimmingCharacters(in: .whitespacesAndNewlines)
    change(id) { $0.folder = name?.isEmpty == false ? name : nil }
  }

  /// Renames a folder, with all conversations in it; an empty name dissolves it.
  public func renameFolder(_ folder: String, to name: String) {
    for conversation in pool.store.conversations where conversation.folder == folder { move(conversation.id, to: name) }
  }

  /// The folders in use, by name.
  public var folders: [String] { Set(pool.store.conversations.compactMap(\.folder)).sorted() }

  /// The conversations shown, by folder: first those without one.
  public var sections: [SidebarSection] {
    let groups = Dictionary(grouping: hits) { $0.conversation.folder ?? "" }
    return groups.keys.sorted().map { SidebarSection(folder: $0, hits: groups[$0] ?? []) }
  }

  /// Pins or unpins a conversation.
  public func togglePin(_ id: UUID) { change(id) { $0.isPinned.toggle() } }

  /// Asks whether to delete a conversation. An empty one is deleted immediately.
  public func askToRemove(_ id: UUID) {
    guard let conversation = pool.store.conversation(id) else { return }
    if pool.store.messages(of: id).count == 0 { return remove(id) }
    removalCandidate = conversation
  }

  /// The user's answer to the question.
  public func answerRemoval(_ isConfirmed: Bool) {
    guard let candidate = removalCandidate else { return }
    removalCandidate = nil
    if isConfirmed { remove(candidate.id) }
  }

  /// Stops a conversation's answer in progress and deletes it; ``undoRemoval()`` restores it.
  public func remove(_ id: UUID) {
    keep {
      if let gone = try pool.remove(id), !gone.messages.isEmpty { removed.append(gone) }
    }
  }

  /// Restores the conversation that was deleted last, and selects it.
  public func undoRemoval() {
    guard let last = removed.last else { return }
    keep {
      try pool.store.save(last.conversation, last.messages)
      removed.removeLast()
      selection = last.conversation.id
    }
  }

  private func change(_ id: UUID, _ body: (inout Conversation) -> Void) {
    guard var conversation = pool.openTranscript(id)?.conversation ?? pool.store.conversation(id) else { return }
    body(&conversation)
    pool.openTranscript(id)?.conversation = conversation
    keep { try pool.store.save(conversation) }
  }

  private func keep(_ work: () throws -> Void) {
    do { try work() } catch { failure = ChatFailure("The chats cannot be saved", error) }
    refresh()
  }
}
