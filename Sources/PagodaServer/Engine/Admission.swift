// Admission: how much work may wait. Checked before anything is done for a request, so that a full server answers fast.
import Foundation

final class Admission: @unchecked Sendable {
  private let lock = NSLock()
  private var sequences = 0  // admitted and not ended
  private var promptTokens = 0  // of sequences that have no token yet
  private var logprobBytes = 0  // that answers in flight may take before they are sent
  private var isDraining = false
  let maximumSequences: Int
  let maximumPromptTokens: Int

  init(maximumSequences: Int, maximumPromptTokens: Int) {
    self.maximumSequences = maximumSequences
    self.maximumPromptTokens = maximumPromptTokens
  }

  /// Whether one more sequence would be taken now.
  func check() throws { try lock.withLock { try check(1) } }

  /// Takes room for sequences; `leave` gives it back, once for each.
  func enter(_ count: Int) throws {
    try lock.withLock {
      try check(count)
      sequences += count
    }
  }

  /// Most bytes of log probabilities of answers that are sent whole: of one request, and of all in flight.
  static let maximumLogprobBytes = 512 << 20
  static let maximumAllLogprobBytes = 1 << 30

  /// Takes room for log probabilities; `leave(logprobBytes:)` gives it back.
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

  /// Under the lock. A request larger than the whole queue is taken when nothing else is there.
  private func check(_ count: Int) throws {
    if isDraining { throw APIError.shuttingDown }
    if sequences > 0 && sequences + count > maximumSequences {
      throw APIError.overloaded("the server is busy: \(sequences) answers are being made or wait; try again")
    }
    if promptTokens > maximumPromptTokens {
      throw APIError.overloaded("the server is busy: prompts of \(promptTokens) tokens wait; try again")
    }
  }
}
