// RateLimits: each key's use in the last minute, and addresses that guess keys.
import Foundation

/// A token bucket: refills at a steady rate, to a minute's worth at most.
struct Allowance: Sendable {
  private let perMinute: Double
  private var left: Double
  private var filled: Double

  init(perMinute: Int, now: Double) {
    self.perMinute = Double(perMinute)
    left = self.perMinute
    filled = now
  }

  private mutating func fill(_ now: Double) {
    left = min(perMinute, left + max(0, now - filled) * perMinute / 60)
    filled = max(filled, now)
  }

  /// Seconds until there is enough; 0 if there is enough now.
  mutating func wait(for amount: Double, now: Double) -> Double {
    fill(now)
    return left >= amount ? 0 : (amount - left) * 60 / perMinute
  }

  /// May become negative: the cost of an answer is known only afterwards.
  mutating func take(_ amount: Double, now: Double) {
    fill(now)
    left -= amount
  }

  mutating func isFull(_ now: Double) -> Bool {
    fill(now)
    return left >= perMinute
  }
}

/// The allowances of all keys. Any thread may use it.
final class KeyLimits: @unchecked Sendable {
  private let lock = NSLock()
  // Guarded by `lock`; indexed by key.
  private var requests: [Int: Allowance] = [:]
  private var tokens: [Int: Allowance] = [:]
  private var nextShare: [Int: Int] = [:]
  private let keys: [APIKey]

  init(_ keys: [APIKey], now: Double = monotonicSeconds()) {
    self.keys = keys
    for (index, key) in keys.enumerated() {
      requests[index] = key.requestsPerMinute.map { Allowance(perMinute: $0, now: now) }
      tokens[index] = key.tokensPerMinute.map { Allowance(perMinute: $0, now: now) }
    }
  }

  /// Counts a request, or returns how many seconds it must wait.
  func begin(_ key: Int, now: Double = monotonicSeconds()) -> Double? {
    lock.withLock {
      let wait = max(requests[key]?.wait(for: 1, now: now) ?? 0, tokens[key]?.wait(for: 1, now: now) ?? 0)
      if wait > 0 { return wait }
      requests[key]?.take(1, now: now)
      return nil
    }
  }

  func use(_ key: Int, tokens count: Int, now: Double = monotonicSeconds()) {
    lock.withLock { tokens[key]?.take(Double(count), now: now) }
  }

  /// The share of the engine for the next request of a key: a key with several shares rotates through them.
  func shareID(_ key: Int) -> String {
    let count = keys[key].share
    if count == 1 { return "key \(key)" }
    return lock.withLock {
      let turn = nextShare[key, default: 0]
      nextShare[key] = (turn + 1) % count
      return "key \(key).\(turn)"
    }
  }
}

/// Wrong keys by address. Any thread may use it.
///
/// A valid key is never refused, because several clients may share an address: behind a proxy, all of them. Each address
/// may try a number of different wrong keys per minute, and each of those keys as often, so that a faulty program that
/// repeats one key leaves the others their error message. The addresses of an IPv6 network count as one.
final class FailedKeys: @unchecked Sendable {
  private struct Guess: Hashable {
    var address: String
    var key: Int  // its hash
  }

  static let perMinute = 20
  private static let maximumEntries = 4096

  private let lock = NSLock()
  // Guarded by `lock`.
  private var keys: [String: Allowance] = [:]  // different keys, by address
  private var uses: [Guess: Allowance] = [:]  // of the same key

  /// Counts a request with a wrong key. Returns the seconds to wait, if there were too many.
  func count(_ key: String, from address: String, now: Double = monotonicSeconds()) -> Double? {
    let address = TrustedProxies.network(of: address)
    return lock.withLock {
      let guess = Guess(address: address, key: key.hashValue)
      if uses[guess] == nil, let wait = Self.take(&keys, address, now) { return wait }
      return Self.take(&uses, guess, now)
    }
  }

  private static func take<Key: Hashable>(_ table: inout [Key: Allowance], _ key: Key, _ now: Double) -> Double? {
    if table.count >= maximumEntries { forget(&table, now) }
    var allowance = table[key] ?? Allowance(perMinute: perMinute, now: now)
    let wait = allowance.wait(for: 1, now: now)
    if wait == 0 { allowance.take(1, now: now) }
    table[key] = allowance
    return wait > 0 ? wait : nil
  }

  /// Drops entries that have not been used for a while; all of them, if that is not enough.
  private static func forget<Key: Hashable>(_ table: inout [Key: Allowance], _ now: Double) {
    for (key, var allowance) in table where allowance.isFull(now) { table[key] = nil }
    if table.count >= maximumEntries { table.removeAll() }
  }
}
