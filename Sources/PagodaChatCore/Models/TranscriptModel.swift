// TranscriptModel: one open conversation: the visible messages, and the answer in progress.
import Foundation
import Observation
import PagodaKit

/// One open conversation. Several may generate concurrently; each generates one answer at a time.
@MainActor @Observable
public final class TranscriptModel: Identifiable {
  /// The conversation.
  public internal(set) var conversation: Conversation
  /// The messages on the visible path; the last one is updated while it streams.
  public internal(set) var messages: [ChatMessage] = []
  /// Why the last answer failed, or something could not be saved.
  public var failure: ChatFailure?
  /// Whether an answer is in progress.
  public var isAnswering: Bool { answering != nil }
  /// Whether the answer waits for a model that is being loaded.
  public internal(set) var isWaitingForModel = false
  /// How much of a long prompt the model has read; nil before its first step and from the first token on.
  public internal(set) var promptProgress: PromptProgress?
  /// How many of the oldest messages the last prompt left out, because the context is full.
  public internal(set) var omittedMessages = 0
  /// The text that is being written in this conversation.
  public let composer = ComposerModel()
  /// Find in chat.
  public let find = FindModel()
  /// Whether the view follows the end of the answer.
  public let follower = ScrollFollower()
  /// The message that is shown as one text, to select across its paragraphs; nil for none.
  public private(set) var selectableID: UUID?
  /// Token statistics of the answer in progress, or else of the last one.
  public internal(set) var stats = TokenStats()

  let store: ConversationStore
  let engines: EngineModel
  var answering: Task<Void, Never>?
  @ObservationIgnored var tools: ToolModel?
  var pendingCalls: [ToolCall] = []  // of the answer in progress
  var roundStart = 0  // characters of its text before the current round
  var wantsTitle = false  // the title is still the first words
  var titling: Task<Void, Never>?
  /// Whether the model writes titles.
  @ObservationIgnored var modelWritesTitles: () -> Bool = { false }
  var firstTokenAt: ContinuousClock.Instant?
  var savedAt = ContinuousClock.now
  var savedLength = 0
  var savingInterval = Duration.seconds(2)
  private var isRemoved = false
  private var hasUnsavedSettings = false
  let markdown = MarkdownCache()

  /// The conversation's identity.
  public nonisolated let id: UUID

  /// Opens a conversation from the store, or a new one. An answer that was in progress when the program ended counts as
  /// stopped.
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

  /// Generation settings. Changes are saved by the app's ``AppModel/flush()``, not for each letter that is typed.
  public var settings: ChatSettings {
    get { conversation.settings }
    set {
      if newValue == conversation.settings { return }
      conversation.settings = newValue
      hasUnsavedSettings = true
    }
  }

  /// Saves settings that have changed.
  public func flush() {
    if hasUnsavedSettings { keepConversation() }
  }

  /// A message as blocks to show; those of an answer in progress are parsed as they arrive, each line once, and not
  /// copied.
  public func shownBlocks(of message: ChatMessage) -> MarkdownBlocks { markdown.blocks(of: message) }

  /// The same in a separate array, which costs time proportional to the number of blocks.
  public func blocks(of message: ChatMessage) -> [MarkdownBlock] { Array(shownBlocks(of: message)) }

  /// Shows a message as one text, or again as blocks.
  public func toggleSelectable(_ id: UUID) { selectableID = selectableID == id ? nil : id }

  /// A message's index among its alternatives, from 1; nil if it has none.
  public func alternative(of id: UUID) -> (number: Int, count: Int)? {
    let siblings = store.messages(of: self.id).siblings(of: id)
    guard siblings.count > 1, let index = siblings.firstIndex(of: id) else { return nil }
    return (index + 1, siblings.count)
  }

  /// Shows the alternative `offset` positions after a message, and the newest path through it.
  public func showAlternative(of id: UUID, offset: Int) {
    guard !isAnswering else { return }
    let tree = store.messages(of: self.id)
    let siblings = tree.siblings(of: id)
    guard let index = siblings.firstIndex(of: id), siblings.indices.contains(index + offset) else { return }
    show(tree.newestLeaf(from: siblings[index + offset]))
    keepConversation()
  }

  /// How far the model has read a long prompt, in words; nil when there is nothing to wait for.
  public var promptProgressText: String? {
    guard let progress = promptProgress else { return nil }
    let percent = Int(progress.fraction * 100)
    guard let left = progress.estimatedSecondsLeft else { return localized("Reading \(percent) %") }
    return localized("Reading \(percent) %, \(Int(max(left, 1).rounded(.up))) s left")
  }

  /// A note that the oldest messages were left out; nil if all were read.
  public var omissionText: String? {
    omittedMessages == 0
      ? nil : localized("The context is full: the oldest \(omittedMessages) messages were not read.")
  }

  /// Exports the conversation.
  public func export(_ form: ConversationExport) throws -> String {
    try form.text(of: conversation, store.messages(of: id))
  }

  /// Whether there is a chat to share, and no answer in progress.
  public var canShare: Bool { !isAnswering && !messages.isEmpty }

  /// The shared text: the visible path as Markdown. Empty while it cannot be shared: views ask for it with every token
  /// of an answer.
  public var shareText: String { canShare ? (try? export(.markdown)) ?? "" : "" }

  /// Whether the loaded model can think before it answers.
  public var canThink: Bool { engines.thinksByDefault != nil }

  /// Whether it will: as set for this chat, or as the model does by default.
  public var thinks: Bool {
    get { settings.thinking ?? engines.thinksByDefault ?? false }
    set { settings.thinking = newValue }
  }

  /// Makes a path the visible one.
  func show(_ leaf: UUID?) {
    conversation.leafID = leaf
    messages = store.messages(of: id).path(to: leaf)
  }

  /// Ends the answer in progress and saves nothing more: late events must not restore the deleted conversation.
  func close() {
    isRemoved = true
    stop()
  }

  /// Updates a message in the visible path and in the store.
  func keep(_ message: ChatMessage) {
    if let index = messages.lastIndex(where: { $0.id == message.id }) { messages[index] = message }
    attempt("The chat cannot be saved") { try store.save(message) }
  }

  func keepConversation() {
    hasUnsavedSettings = false
    attempt("The chat cannot be saved") { try store.save(conversation) }
  }

  func attempt(_ title: InterfaceText, _ work: () throws -> Void) {
    if isRemoved { return }
    do { try work() } catch { failure = ChatFailure(title, error) }
  }
}
