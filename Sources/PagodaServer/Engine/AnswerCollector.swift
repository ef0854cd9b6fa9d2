// AnswerCollector: collects answers that are sent whole.
import Foundation
import PagodaKit

/// Collects the answers of one request until all have ended.
final class AnswerCollector: @unchecked Sendable {
  private let lock = NSLock()
  private var answers: [Answer]
  private let readers: [AnswerReader]
  private var open: Int
  private let done: @Sendable ([Answer]) -> Void

  init(_ readers: [AnswerReader], done: @escaping @Sendable ([Answer]) -> Void) {
    self.readers = readers
    answers = Array(repeating: Answer(), count: readers.count)
    open = readers.count
    self.done = done
  }

  func add(_ event: StreamEvent, to index: Int) {
    let finished: [Answer]? = lock.withLock {
      switch event {
      case .engine(let event):
        for segment in readers[index].read(event) { answers[index].add(segment) }
        guard case .finished = event else { return nil }
      case .failed(let error): answers[index].failure = error
      }
      open -= 1
      return open == 0 ? answers : nil
    }
    if let finished { done(finished) }
  }
}
