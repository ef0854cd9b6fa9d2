// ConversationStore: conversations of the Responses API, which clients extend by their id, in bounded memory.
import Foundation
import PagodaKit

/// The conversations of all keys; the least recently used make room for others. Any thread may use it.
final class ConversationStore: @unchecked Sendable {
  struct Entry {
    let id: String
    let owner: String  // the name of the client's key; other keys do not see it
    let created: Int64
    var metadata: JSONValue
    var items: [JSONValue]  // each with an id, the oldest first
    var bytes: Int

    var json: JSONValue {
      .object([
        "id": .string(id), "object": .string("conversation"), "created_at": .integer(created), "metadata": metadata,
      ])
    }
  }

  private let maximumCount: Int
  private let maximumBytes: Int
  private let lock = NSLock()
  // Guarded by `lock`.
  private var entries: [String: Entry] = [:]
  private var order: [String] = []  // the least recently used first
  private var totalBytes = 0

  init(maximumBytes: Int = 64 << 20, maximumCount: Int = 4096) {
    self.maximumBytes = maximumBytes
    self.maximumCount = maximumCount
  }

  func create(_ items: [JSONValue], metadata: JSONValue, owner: String) throws -> Entry {
    let entry = Entry(
      id: randomID("conv_"), owner: owner, created: Int64(Date().timeIntervalSince1970), metadata: metadata, items: [],
      bytes: metadata.text.utf8.count)
    return try lock.withLock {
      try put(Self.adding(items, to: entry))
    }
  }

  func find(_ id: String, owner: String) -> Entry? {
    lock.withLock {
      guard let entry = entries[id], entry.owner == owner else { return nil }
      order.removeAll { $0 == id }
      order.append(id)
      return entry
    }
  }

  /// The changed conversation; nil if there is none.
  func change(_ id: String, owner: String, _ change: (inout Entry) -> Void) throws -> Entry? {
    try lock.withLock {
      guard var entry = entries[id], entry.owner == owner else { return nil }
      change(&entry)
      entry.bytes = entry.metadata.text.utf8.count + entry.items.reduce(0) { $0 + $1.text.utf8.count }
      return try put(entry)
    }
  }

  func add(_ items: [JSONValue], to id: String, owner: String) throws -> Entry? {
    try lock.withLock {
      guard let entry = entries[id], entry.owner == owner else { return nil }
      return try put(Self.adding(items, to: entry))
    }
  }

  /// False if there is none.
  func delete(_ id: String, owner: String) -> Bool {
    lock.withLock {
      guard entries[id]?.owner == owner else { return false }
      forget(id)
      return true
    }
  }

  private static func adding(_ items: [JSONValue], to entry: Entry) -> Entry {
    var entry = entry
    entry.items += items
    entry.bytes += items.reduce(0) { $0 + $1.text.utf8.count }
    return entry
  }

  /// Requires the lock.
  private func put(_ entry: Entry) throws -> Entry {
    if entry.bytes > maximumBytes / 4 {
      throw APIError.invalid(
        "a conversation may have \(maximumBytes >> 22) MiB", param: "conversation", code: "conversation_too_large")
    }
    forget(entry.id)
    entries[entry.id] = entry
    order.append(entry.id)
    totalBytes += entry.bytes
    while totalBytes > maximumBytes || order.count > maximumCount, let oldest = order.first { forget(oldest) }
    return entry
  }

  /// Requires the lock.
  private func forget(_ id: String) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    totalBytes -= entry.bytes
    order.removeAll { $0 == id }
  }
}
