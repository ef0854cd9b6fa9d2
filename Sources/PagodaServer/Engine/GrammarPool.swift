// GrammarPool: compiles constraints on threads of its own, so that requests without one never wait for them.
import Foundation

/// Serves keys in turn, one constraint each: a key that sends many expensive ones delays itself.
final class GrammarPool: @unchecked Sendable {
  /// Most constraints that wait, of all keys and of one.
  static let maximumWaiting = 64
  static let maximumWaitingPerKey = 16

  private let lock = NSLock()
  private let workers = OperationQueue()
  // Guarded by `lock`.
  private var waiting: [String: [@Sendable () -> Void]] = [:]  // by key, none empty
  private var turns: [String] = []  // the keys of `waiting`, the next one first
  private var count = 0

  init(threads: Int = ProcessInfo.processInfo.activeProcessorCount > 4 ? 2 : 1) {
    workers.maxConcurrentOperationCount = threads
    workers.qualityOfService = .utility
  }

  /// Runs `work` on one of the pool's threads. Throws if too much waits already.
  func add(key: String, _ work: @escaping @Sendable () -> Void) throws {
    try lock.withLock {
      if count >= Self.maximumWaiting || waiting[key, default: []].count >= Self.maximumWaitingPerKey {
        throw APIError.overloaded("the server is busy: \(count) schemas and grammars wait to be compiled; try again")
      }
      if waiting[key] == nil { turns.append(key) }
      waiting[key, default: []].append(work)
      count += 1
    }
    workers.addOperation { [self] in next()?() }
  }

  var waitingCount: Int { lock.withLock { count } }

  private func next() -> (@Sendable () -> Void)? {
    lock.withLock {
      guard !turns.isEmpty, var queue = waiting[turns[0]] else { return nil }
      let key = turns.removeFirst()
      let work = queue.removeFirst()
      count -= 1
      waiting[key] = queue.isEmpty ? nil : queue
      if !queue.isEmpty { turns.append(key) }
      return work
    }
  }
}
