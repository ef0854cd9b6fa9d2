// AnswerRun: the sequences of one request while the engine works on them.
import Foundation
import PagodaKit

/// The sequences of one request on the engine.
final class AnswerRun: @unchecked Sendable {
  private let generator: Generator
  private let lock = NSLock()
  private var cancels: [@Sendable () -> Void] = []  // guarded by `lock`
  private var isCancelled = false  // guarded by `lock`

  private let record: AccessRecord
  private var open: Int  // sequences that have not ended; guarded by `lock`
  private var longest = 0  // tokens of the longest answer so far; guarded by `lock`

  init(_ generator: Generator, _ record: AccessRecord, sequences: Int) {
    self.generator = generator
    self.record = record
    open = sequences
  }

  func start(
    _ request: Request, tokens count: Int, index: Int,
    deliver: @escaping @Sendable (Int, StreamEvent) -> Void
  ) throws {
    let tokens = WaitingTokens(count, generator.admission)
    let gaps = TokenGaps(generator.metrics)
    let submitted = monotonicSeconds()
    let cancel: @Sendable () -> Void
    do {
      cancel = try generator.engine.start(request) { [self, generator, record] segment in
        if case .progress = segment {} else { tokens.release() }
        record.note(segment, submitted: submitted)
        if case .token = segment { gaps.note() }
        if case .finished(let completion, _) = segment {
          // Before the client can know: a router that sends its next request at once must find the place free.
          generator.admission.leave()
          generator.metrics.ended(completion)
          ended(completion)
        }
        deliver(index, .success(segment))
      } end: { [generator, record] error in
        tokens.release()
        guard let error else { return }
        generator.admission.leave()
        generator.metrics.ended(nil)
        record.fail()
        deliver(index, .failure(error))
      }
    } catch {
      tokens.release()
      throw error
    }
    let late = lock.withLock {
      cancels.append(cancel)
      return isCancelled
    }
    if late { cancel() }
  }

  private func ended(_ completion: Completion) {
    let most: Int? = lock.withLock {
      open -= 1
      longest = max(longest, completion.usage.completionTokens)
      return open == 0 && longest > 0 ? longest : nil
    }
    if let most { generator.metrics.requestEnded(longest: most) }
  }

  func cancel() {
    let all = lock.withLock {
      isCancelled = true
      return cancels
    }
    for cancel in all { cancel() }
  }
}

/// Counts a prompt as waiting until its first event.
private final class WaitingTokens: @unchecked Sendable {
  private let admission: Admission
  private let lock = NSLock()
  private var count: Int

  init(_ count: Int, _ admission: Admission) {
    self.count = count
    self.admission = admission
    admission.addPromptTokens(count)
  }

  func release() {
    let released = lock.withLock {
      defer { count = 0 }
      return count
    }
    if released > 0 { admission.addPromptTokens(-released) }
  }
}

/// The times between the tokens of one sequence. Used only by the engine's thread.
private final class TokenGaps: @unchecked Sendable {
  private let metrics: ModelMetrics
  private var last: Double?

  init(_ metrics: ModelMetrics) { self.metrics = metrics }

  func note() {
    let now = monotonicSeconds()
    if let last { metrics.tokenFollowed(after: now - last) }
    last = now
  }
}
