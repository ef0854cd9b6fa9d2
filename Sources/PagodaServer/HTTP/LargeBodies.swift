// LargeBodies: the work on large bodies, which takes long: a few at a time, and their senders in turn, so that small
// requests find a free worker and one sender's bodies do not delay another's.
import Foundation

final class LargeBodies: @unchecked Sendable {
  typealias Work = @Sendable () -> Void

  /// Bodies from this size on; they take milliseconds to read.
  static let bytes = 256 << 10

  private let run: @Sendable (@escaping Work) -> Void
  private let maximumRunning: Int
  private let lock = NSLock()
  // Guarded by `lock`.
  private var running = 0
  private var waiting: [String: [Work]] = [:]  // by sender, oldest first
  private var senders: [String] = []  // those with waiting work, in the order of their turns

  init(maximumRunning: Int, run: @escaping @Sendable (@escaping Work) -> Void) {
    self.maximumRunning = maximumRunning
    self.run = run
  }

  func add(from sender: String, _ work: @escaping Work) {
    lock.withLock {
      if waiting[sender, default: []].isEmpty { senders.append(sender) }
      waiting[sender, default: []].append(work)
    }
    startNext()
  }

  private func startNext() {
    let next = lock.withLock { () -> Work? in
      guard running < maximumRunning, !senders.isEmpty else { return nil }
      let sender = senders.removeFirst()
      let work = waiting[sender]?.removeFirst()
      if waiting[sender]?.isEmpty ?? true { waiting[sender] = nil } else { senders.append(sender) }
      running += 1
      return work
    }
    guard let next else { return }
    run { [self] in
      next()
      lock.withLock { running -= 1 }
      startNext()
    }
  }
}
