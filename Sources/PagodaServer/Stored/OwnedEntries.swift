// OwnedEntries: what clients store under an id, in bounded memory that their keys share.
import PagodaKit

/// Values with their owners, the least recently used first. When they are too large or too many, the oldest of the owner who
/// has the most goes: one key cannot take the place of what others have stored.
struct OwnedEntries<Value> {
  struct Entry {
    let owner: String  // the name of the client's key; other keys do not see it
    var value: Value
    let bytes: Int
  }

  private struct Share {
    var bytes = 0
    var count = 0
  }

  let maximumBytes: Int
  let maximumCount: Int
  private(set) var order: [String] = []
  private var entries: [String: Entry] = [:]
  private var shares: [String: Share] = [:]
  private var totalBytes = 0

  init(maximumBytes: Int, maximumCount: Int) {
    self.maximumBytes = maximumBytes
    self.maximumCount = maximumCount
  }

  subscript(id: String) -> Entry? { entries[id] }

  /// The owner's own value.
  func find(_ id: String, owner: String) -> Value? {
    entries[id].flatMap { $0.owner == owner ? $0.value : nil }
  }

  mutating func noteUse(_ id: String) {
    order.removeAll { $0 == id }
    order.append(id)
  }

  /// Stores a value of at most `maximumBytes`, as the latest; others make room for it.
  mutating func put(_ id: String, _ value: Value, owner: String, bytes: Int) {
    remove(id)
    entries[id] = Entry(owner: owner, value: value, bytes: bytes)
    order.append(id)
    add(bytes, 1, to: owner)
    while totalBytes > maximumBytes, let last = leastNeeded(except: id, by: { $0.bytes }) { remove(last) }
    while order.count > maximumCount, let last = leastNeeded(except: id, by: { $0.count }) { remove(last) }
  }

  mutating func remove(_ id: String) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    order.removeAll { $0 == id }
    add(-entry.bytes, -1, to: entry.owner)
  }

  private mutating func add(_ bytes: Int, _ count: Int, to owner: String) {
    totalBytes += bytes
    shares[owner, default: Share()].bytes += bytes
    shares[owner, default: Share()].count += count
    if shares[owner]?.count == 0 { shares[owner] = nil }
  }

  /// The oldest entry of the owner with the most.
  private func leastNeeded(except id: String, by size: (Share) -> Int) -> String? {
    var found: (id: String, size: Int)?
    for other in order where other != id {
      guard let share = entries[other].flatMap({ shares[$0.owner] }) else { continue }
      if size(share) > found?.size ?? 0 { found = (other, size(share)) }
    }
    return found?.id
  }
}

extension JSONValue {
  /// The memory it takes, nearly: a list of small numbers takes twelve times as much as its text.
  var memoryBytes: Int {
    let own = MemoryLayout<JSONValue>.stride, header = 32
    func outside(_ text: String) -> Int { text.utf8.count > 15 ? header + text.utf8.count : 0 }
    switch self {
    case .null, .bool, .integer, .unsigned, .number: return own
    case .string(let text): return own + outside(text)
    case .array(let values): return values.reduce(own + header) { $0 + $1.memoryBytes }
    case .object(let members):
      return members.reduce(own + header) { $0 + MemoryLayout<String>.stride + outside($1.key) + $1.value.memoryBytes }
    }
  }
}
