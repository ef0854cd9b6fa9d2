// Admission: how much work may wait. Checked before any work is done for a request, so that a full server responds
// fast.
import Foundation

final class Admission: @unchecked Sendable {
  private let lock = NSLock()
  private var sequences = 0  // admitted and not finished
  private var promptTokens = 0  // of sequences that have no token yet
  private var logprobBytes = 0  // bytes that answers in flight may need before they are sent
  private var isDraining = false
  let maximumSequences: Int
  let maximumPromptTokens: Int

  init(maximumSequences: Int, maximumPromptTokens: Int) {
    self.maximumSequences = maximumSequences
    self.maximumPromptTokens = maximumPromptTokens
  }

  /// Whether one more sequence would be accepted now.
  func check() throws { try lock.withLock { try check(1) } }

  /// Reserves capacity for sequences; `leave` releases it, once for each.
  func enter(_ count: Int) throws {
    try lock.withLock {
      try check(count)
      sequences += count
    }
  }

  /// Maximum bytes of log probabilities of answers that are sent whole: per request, and for all in flight.
  static let maximumLogprobBytes = 512 << 20
  static let maximumAllLogprobBytes = 1 << 30

  /// Reserves capacity for log probabilities; `leave(logprobBytes:)` releases it.
  func enter(logprobBytes bytes: Int) throws {
    if bytes > Self.maximumLogprobBytes {
      throw APIError.invalid(
        "the log probabilities of all answers may take \(bytes >> 20) MiB, and \(Self.maximumLogprobBytes >> 20) MiB are "
          + "the most; ask for fewer answers, tokens or top_logprobs, or for a stream", param: "logprobs")
    }
    try lock.withLock {
      if logprobBytes + bytes > Self.maximumAllLogprobBytes {
        throw APIError.overloaded("the server is busy: log probabilities of other answers fill its memory; try again")
      }
      logprobBytes += bytes
    }
  }

  func leave(logprobBytes bytes: Int) { lock.withLock { logprobBytes -= bytes } }

  func leave(_ count: Int = 1) { lock.withLock { sequences -= count } }

  func addPromptTokens(_ count: Int) { lock.withLock { promptTokens += count } }

  func drain() { lock.withLock { isDraining = true } }

  var isEmpty: Bool { lock.withLock { sequences == 0 } }
  var draining: Bool { lock.withLock { isDraining } }

  /// Requires the lock. A request larger than the whole queue is accepted if nothing else is queued.
  private func check(_ count: Int) throws {
    if isDraining { throw APIError.shuttingDown }
    if sequences > 0 && sequences + count > maximumSequences {
      throw APIError.overloaded("the server is busy: \(sequences) answers are running or waiting; try again")
    }
    if promptTokens > maximumPromptTokens {
      throw APIError.overloaded("the server is busy: prompts of \(promptTokens) tokens wait; try again")
    }
  }
}
