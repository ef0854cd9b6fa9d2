// TranscriptPool: the conversations that are open in any window, so that all windows show the same ones.
import Foundation
import Observation

/// The conversations that are open in any window. A conversation has one model however many windows show it.
@MainActor
public final class TranscriptPool {
  let store: ConversationStore
  let engines: EngineModel
  var open: [UUID: TranscriptModel] = [:]
  var lists: [WeakList] = []
  var modelWritesTitles: () -> Bool = { false }
  var tools: ToolModel?
  var paused: Set<UUID> = []  // conversations whose answers stopped when the app left the screen
  private var drafts: DraftFile

  struct WeakList {
    weak var list: ConversationListModel?
  }

  init(store: ConversationStore, engines: EngineModel) {
    self.store = store
    self.engines = engines
    drafts = DraftFile(folder: store.url.deletingLastPathComponent())
  }

  /// Whether any conversation is being answered, or waits for its model.
  var isAnswering: Bool { open.values.contains { $0.isAnswering } }

  func add(_ list: ConversationListModel) {
    lists.removeAll { $0.list == nil }
    lists.append(WeakList(list: list))
  }

  /// Updates every window.
  func refresh() {
    for entry in lists { entry.list?.reload() }
  }

  func openTranscript(_ id: UUID) -> TranscriptModel? { open[id] }

  func transcript(of id: UUID) -> TranscriptModel? {
    if let model = open[id] { return model }
    guard let conversation = store.conversation(id) else { return nil }
    let model = TranscriptModel(conversation, store: store, engines: engines)
    model.composer.text = drafts.texts[id] ?? ""
    model.modelWritesTitles = modelWritesTitles
    model.tools = tools
    open[id] = model
    return model
  }

  /// Ends a conversation's answer and removes it from every window. Returns the data to restore it.
  func remove(_ id: UUID) throws -> RemovedConversation? {
    let transcript = open.removeValue(forKey: id)
    transcript?.flush()
    guard let conversation = store.conversation(id) else { return nil }
    var removed = RemovedConversation(conversation: conversation, messages: store.messages(of: id).all)
    if let last = transcript?.messages.last, let index = removed.messages.lastIndex(where: { $0.id == last.id }) {
      removed.messages[index] = last  // with the answer so far
      if last.state == .streaming { removed.messages[index].state = .stopped }
    }
    transcript?.close()
    try store.remove(id)
    for entry in lists { entry.list?.deselect(id) }
    return removed
  }

  /// Saves settings and drafts that have changed.
  func flush() {
    for (id, transcript) in open {
      transcript.flush()
      drafts.texts[id] = transcript.composer.draftText.isEmpty ? nil : transcript.composer.draftText
    }
    drafts.flush()
  }
}

/// A conversation that was deleted and can be restored.
public struct RemovedConversation: Hashable, Sendable {
  /// The conversation.
  public var conversation: Conversation
  /// Its messages, on all paths.
  public var messages: [ChatMessage]
}

/// Unsent texts, by conversation; in a separate file, because they change often and matter little.
struct DraftFile {
  var texts: [UUID: String] = [:]
  private var saved: [UUID: String] = [:]
  private let url: URL

  init(folder: URL) {
    url = folder.appending(path: "drafts.json")
    guard let data = try? Data(contentsOf: url) else { return }
    saved = (try? JSONDecoder().decode([UUID: String].self, from: data)) ?? [:]
    texts = saved
  }

  mutating func flush() {
    guard texts != saved, let data = try? JSONEncoder().encode(texts) else { return }
    if (try? data.write(to: url, options: .atomic)) != nil { saved = texts }
  }
}
