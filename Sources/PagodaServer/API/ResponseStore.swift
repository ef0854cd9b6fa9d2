// ResponseStore: answers of /v1/responses that clients refer to later, in bounded memory and optionally in a file.
import Foundation
import PagodaKit

/// The latest responses with the input they answer. Any thread may use it.
final class ResponseStore: @unchecked Sendable {
  struct Entry {
    var owner: String  // the name of the client's key; other keys do not see it
    var response: JSONValue
    var input: [JSONValue]  // all items before the response, including those of earlier responses
  }

  private let lock = NSLock()
  // Guarded by `lock`.
  private var entries: OwnedEntries<Entry>
  private var running: [String: (owner: String, cancel: @Sendable () -> Void)] = [:]
  private var file: FileHandle?

  init(maximumBytes: Int = 64 << 20, maximumCount: Int = 4096) {
    entries = OwnedEntries(maximumBytes: maximumBytes, maximumCount: maximumCount)
  }

  /// Reads the file of an earlier server, if there is one, and appends to it from now on.
  convenience init(path: String, maximumBytes: Int = 64 << 20) throws {
    self.init(maximumBytes: maximumBytes)
    if let data = FileManager.default.contents(atPath: path) {
      for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
        guard let record = JSONValue.parse(String(line)) else { continue }  // truncated when a server was killed
        if let id = record["deleted"]?.stringValue {
          entries.remove(id)
        } else if let owner = record["owner"]?.stringValue, let response = record["response"],
          let id = response["id"]?.stringValue
        {
          keep(id, Entry(owner: owner, response: response, input: record["input"]?.arrayValue ?? []))
        }
      }
    }
    // Rewritten, so that it contains no more than the store; readable by its owner only.
    let lines = entries.order.compactMap { id in entries[id].map { Self.line($0.value) } }
    let created = FileManager.default.createFile(
      atPath: path, contents: Data(lines.joined().utf8), attributes: [.posixPermissions: 0o600])
    guard created, let handle = FileHandle(forWritingAtPath: path) else {
      throw ServerError("cannot write responses to \(path)")
    }
    _ = try? handle.seekToEnd()
    file = handle
  }

  private static func line(_ entry: Entry) -> String {
    JSONValue.object([
      "owner": .string(entry.owner), "response": entry.response, "input": .array(entry.input),
    ]).text + "\n"
  }

  /// - Parameter isLasting: whether it is written to the file, if there is one.
  func add(_ response: JSONValue, input: [JSONValue], owner: String, isLasting: Bool = true) {
    guard let id = response["id"]?.stringValue else { return }
    let entry = Entry(owner: owner, response: response, input: input)
    let line = Self.line(entry)
    lock.withLock {
      keep(id, entry)
      if isLasting { try? file?.write(contentsOf: Data(line.utf8)) }
    }
  }

  /// Called under the lock, or before the store is shared.
  private func keep(_ id: String, _ entry: Entry) {
    entries.remove(id)
    let bytes = entry.input.reduce(entry.response.memoryBytes) { $0 + $1.memoryBytes }
    if bytes <= entries.maximumBytes { entries.put(id, entry, owner: entry.owner, bytes: bytes) }
  }

  func find(_ id: String, owner: String) -> Entry? {
    lock.withLock { entries.find(id, owner: owner) }
  }

  /// False if there is none.
  func delete(_ id: String, owner: String) -> Bool {
    lock.withLock {
      guard entries.find(id, owner: owner) != nil else { return false }
      entries.remove(id)
      try? file?.write(contentsOf: Data((JSONValue.object(["deleted": .string(id)]).text + "\n").utf8))
      return true
    }
  }

  func begin(_ id: String, owner: String, cancel: @escaping @Sendable () -> Void) {
    lock.withLock { running[id] = (owner, cancel) }
  }

  func end(_ id: String) { lock.withLock { _ = running.removeValue(forKey: id) } }

  /// False if no such answer is being generated.
  func cancel(_ id: String, owner: String) -> Bool {
    let found = lock.withLock { running[id].flatMap { $0.owner == owner ? $0.cancel : nil } }
    found?()
    return found != nil
  }
}

extension JSONValue {
  /// The same object with another value for a key that it has.
  func with(_ key: String, _ value: JSONValue) -> JSONValue {
    .object((objectValue ?? []).map { $0.key == key ? .init(key: key, value: value) : $0 })
  }
}
