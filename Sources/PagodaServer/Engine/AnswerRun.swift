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

  init(_ generator: Generator, _ record: AccessRecord) {
    self.generator = generator
    self.record = record
  }

  func start(
    _ request: Request, tokens count: Int, index: Int,
    deliver: @escaping @Sendable (Int, StreamEvent) -> Void
  ) throws {
    let tokens = WaitingTokens(count, generator.admission)
    let cancel: @Sendable () -> Void
    do {
      cancel = try generator.engine.start(request) { [generator, record] event in
        if case .promptProgress = event {} else { tokens.release() }
        record.note(event)
        if case .finished(let completion) = event { generator.metrics.ended(completion) }
        deliver(index, .engine(event))
      } end: { [generator, record] error in
        tokens.release()
        generator.admission.leave()
        guard let error else { return }
        generator.metrics.ended(nil)
        record.fail()
        deliver(index, .failed(error))
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
