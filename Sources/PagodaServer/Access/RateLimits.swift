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

/// Addresses that sent wrong keys. Any thread may use it.
///
/// After too many guesses, an address learns nothing more: even a correct key is refused there for a while, unless it
/// was used from there before, so that one faulty program behind a proxy does not lock out the others.
final class FailedKeys: @unchecked Sendable {
  static let perMinute = 20
  private static let maximumAddresses = 4096

  private let lock = NSLock()
  // Guarded by `lock`; keyed by address.
  private var guesses: [String: Allowance] = [:]
  private var known: [String: Set<Int>] = [:]

  /// Records the result of comparing keys: the index of the matching one, or nil. Returns the seconds to wait, if any.
  func check(_ key: Int?, from address: String, now: Double = monotonicSeconds()) -> Double? {
    lock.withLock {
      if let key, known[address]?.contains(key) == true { return nil }
      let wait = guesses[address]?.wait(for: 1, now: now) ?? 0
      if wait > 0 { return wait }
      if let key {
        if known.count >= Self.maximumAddresses { known.removeAll() }
        known[address, default: []].insert(key)
      } else {
        if guesses.count >= Self.maximumAddresses { forget(now) }
        guesses[address, default: Allowance(perMinute: Self.perMinute, now: now)].take(1, now: now)
      }
      return nil
    }
  }

  /// Drops addresses that have not guessed for a while; all of them, if that is not enough.
  private func forget(_ now: Double) {
    for (address, var allowance) in guesses where allowance.isFull(now) { guesses[address] = nil }
    if guesses.count >= Self.maximumAddresses { guesses.removeAll() }
  }
}
