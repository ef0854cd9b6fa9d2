// ConversationStore: all conversations, in memory and in one file that survives a crash at any moment.
import Dispatch
import Foundation

/// All conversations, in memory and in one file. Thread safe.
public final class ConversationStore: @unchecked Sendable {
  /// When changes reach the file.
  public enum Writing: Hashable, Sendable {
    /// Before a call returns, which throws if they cannot be written.
    case atOnce
    /// Soon, in order, on another thread: an app's main thread never waits for the disk.
    case inBackground
  }

  /// The file.
  public let url: URL
  /// When changes reach the file.
  public let writing: Writing

  struct State {
    var conversations: [UUID: Conversation] = [:]
    var trees: [UUID: MessageTree] = [:]
    var records = 0  // in the file, including superseded ones
  }

  private let lock = NSLock()
  private var log: RecordLog  // guarded by `lock`, as is `state`
  private var state: State
  private let queue = DispatchQueue(label: "conversations", qos: .utility)
  private var report: (@Sendable (any Error) -> Void)?  // guarded by `lock`

  /// Damaged records that were skipped; a torn record at the end does not count.
  public let damagedRecords: Int

  /// Opens the store in `folder`, creating it if necessary. A file of an earlier version is migrated.
  public init(folder: URL, writing: Writing = .atOnce) throws {
    self.writing = writing
    url = folder.appending(path: "conversations.log")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw StoreError("\(folder.path) cannot be created: \(error.localizedDescription)")
    }
    var reader = StoreReader()
    var state = State()
    let url = url
    log = try RecordLog(url) { payload in
      state.records += 1
      if let record = try reader.read(payload, from: url) { state.apply(record) }
    }
    damagedRecords = log.damagedRecords
    for (conversation, leaf) in reader.migratedLeaves { state.conversations[conversation]?.leafID = leaf }
    self.state = state
    if reader.fileVersion != StoreReader.version || damagedRecords > 0 { try rewrite(keepingOld: state.records > 0) }
  }

  /// Newest first, pinned ones before the others.
  public var conversations: [Conversation] {
    lock.withLock {
      state.conversations.values.sorted {
        ($0.isPinned ? 1 : 0, $0.updatedAt, $0.id.uuidString) > ($1.isPinned ? 1 : 0, $1.updatedAt, $1.id.uuidString)
      }
    }
  }

  /// A conversation; nil if the id is unknown.
  public func conversation(_ id: UUID) -> Conversation? { lock.withLock { state.conversations[id] } }

  /// The messages of a conversation, on all paths.
  public func messages(of id: UUID) -> MessageTree { lock.withLock { state.trees[id] ?? MessageTree() } }

  /// Adds or replaces a conversation.
  public func save(_ conversation: Conversation) throws { try write([.conversation(conversation)]) }

  /// Adds or replaces a message.
  public func save(_ message: ChatMessage) throws {
    try write([.message(message)], durably: message.state != .streaming)
  }

  /// Adds or replaces a conversation and some of its messages; after a crash all of them, or a prefix, are stored.
  public func save(_ conversation: Conversation, _ messages: [ChatMessage]) throws {
    try write([.conversation(conversation)] + messages.map { .message($0) })
  }

  /// Removes a conversation and its messages.
  public func remove(_ id: UUID) throws { try write([.removal(id)]) }

  func withState<Result>(_ body: (State) -> Result) -> Result { lock.withLock { body(state) } }

  /// Receives the errors of writing in the background, on any thread.
  public func onFailure(_ report: @escaping @Sendable (any Error) -> Void) { lock.withLock { self.report = report } }

  /// Waits until everything saved so far is in the file: before the program ends.
  public func waitUntilWritten() { queue.sync {} }

  private func write(_ records: [StoreRecord], durably: Bool = true) throws {
    guard writing == .inBackground else {
      let payloads = try Self.encoded(records)
      return try lock.withLock {
        try append(payloads, durably: durably)
        state.apply(records)
        try rewriteIfWasteful()
      }
    }
    lock.withLock { state.apply(records) }
    queue.async { [self] in
      do {
        let payloads = try Self.encoded(records)
        try lock.withLock { try append(payloads, durably: false) }
        if durably { try log.synchronize() }  // the slow part; only this queue changes `log` once the store is open
        try lock.withLock { try rewriteIfWasteful() }
      } catch {
        lock.withLock { report }?(error)
      }
    }
  }

  private static func encoded(_ records: [StoreRecord]) throws -> [Data] {
    let encoder = JSONEncoder.store
    return try records.map { try encoder.encode($0) }
  }

  private func append(_ payloads: [Data], durably: Bool) throws {
    try log.append(payloads, durably: durably)
    state.records += payloads.count
  }

  private func rewriteIfWasteful() throws {
    let live = state.conversations.count + state.trees.values.reduce(0) { $0 + $1.count }
    if state.records > 4 * live + 1000 { try rewrite(keepingOld: false) }
  }

  /// Rewrites the file with current records only, in this version's format. `keepingOld` keeps a copy of the old file.
  private func rewrite(keepingOld: Bool) throws {
    if keepingOld {
      let copy = url.appendingPathExtension("old")
      try? FileManager.default.removeItem(at: copy)
      do { try FileManager.default.copyItem(at: url, to: copy) } catch {
        throw StoreError("\(copy.path) cannot be written: \(error.localizedDescription)")
      }
    }
    var records: [StoreRecord] = [.header(version: StoreReader.version)]
    for conversation in state.conversations.values.sorted(by: { $0.createdAt < $1.createdAt }) {
      records.append(.conversation(conversation))
      records += (state.trees[conversation.id]?.all ?? []).map { .message($0) }
    }
    log = try RecordLog.replace(url, with: Self.encoded(records))
    state.records = records.count
  }
}

extension ConversationStore.State {
  mutating func apply(_ records: [StoreRecord]) {
    for record in records { apply(record) }
  }

  mutating func apply(_ record: StoreRecord) {
    switch record {
    case .header: break
    case .conversation(let conversation): conversations[conversation.id] = conversation
    case .message(let message): trees[message.conversationID, default: MessageTree()].put(message)
    case .removal(let id):
      conversations[id] = nil
      trees[id] = nil
    }
  }
}
