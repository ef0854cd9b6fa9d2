// AnswerCollector: collects answers that are sent whole.
import Foundation
import PagodaKit

/// Collects the answers of one request until all have ended.
final class AnswerCollector: @unchecked Sendable {
  private let lock = NSLock()
  private var answers: [Answer]
  private var open: Int
  private let done: @Sendable ([Answer]) -> Void

  init(_ count: Int, done: @escaping @Sendable ([Answer]) -> Void) {
    answers = Array(repeating: Answer(), count: count)
    open = count
    self.done = done
  }

  func add(_ event: StreamEvent, to index: Int) {
    let finished: [Answer]? = lock.withLock {
      switch event {
      case .success(let segment):
        answers[index].add(segment)
        guard case .finished = segment else { return nil }
      case .failure(let error): answers[index].failure = error
      }
      open -= 1
      return open == 0 ? answers : nil
    }
    if let finished { done(finished) }
  }
}
