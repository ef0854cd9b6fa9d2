// ConversationStore: conversations of the Responses API, which clients extend by their id, in bounded memory.
import Foundation
import PagodaKit

/// The conversations of all keys. Any thread may use it.
final class ConversationStore: @unchecked Sendable {
  struct Entry {
    let id: String
    let owner: String  // the name of the client's key; other keys do not see it
    let created: Int64
    var metadata: JSONValue
    var items: [JSONValue]  // each with an id, the oldest first

    var json: JSONValue {
      .object([
        "id": .string(id), "object": .string("conversation"), "created_at": .integer(created), "metadata": metadata,
      ])
    }
  }

  private let lock = NSLock()
  private var entries: OwnedEntries<Entry>  // guarded by `lock`

  init(maximumBytes: Int = 64 << 20, maximumCount: Int = 4096) {
    entries = OwnedEntries(maximumBytes: maximumBytes, maximumCount: maximumCount)
  }

  func create(_ items: [JSONValue], metadata: JSONValue, owner: String) throws -> Entry {
    let entry = Entry(
      id: randomID("conv_"), owner: owner, created: Int64(Date().timeIntervalSince1970), metadata: metadata,
      items: items)
    return try lock.withLock { try put(entry) }
  }

  func find(_ id: String, owner: String) -> Entry? {
    lock.withLock {
      guard let entry = entries.find(id, owner: owner) else { return nil }
      entries.noteUse(id)
      return entry
    }
  }

  /// The changed conversation; nil if there is none.
  func change(_ id: String, owner: String, _ change: (inout Entry) -> Void) throws -> Entry? {
    try lock.withLock {
      guard var entry = entries.find(id, owner: owner) else { return nil }
      change(&entry)
      return try put(entry)
    }
  }

  func add(_ items: [JSONValue], to id: String, owner: String) throws -> Entry? {
    try change(id, owner: owner) { $0.items += items }
  }

  /// False if there is none.
  func delete(_ id: String, owner: String) -> Bool {
    lock.withLock {
      guard entries.find(id, owner: owner) != nil else { return false }
      entries.remove(id)
      return true
    }
  }

  /// Requires the lock.
  private func put(_ entry: Entry) throws -> Entry {
    let bytes = entry.items.reduce(entry.metadata.memoryBytes) { $0 + $1.memoryBytes }
    if bytes > entries.maximumBytes / 4 {
      throw APIError.invalid(
        "a conversation may have \(entries.maximumBytes >> 22) MiB", param: "conversation",
        code: "conversation_too_large")
    }
    entries.put(entry.id, entry, owner: entry.owner, bytes: bytes)
    return entry
  }
}
