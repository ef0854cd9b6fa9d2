// AnswerStream: the elements of an answer as they arrive. Dropping it cancels the answer, and so does cancelling its
// reader.
internal import Foundation

/// The elements of an answer as they arrive; read once, by one task.
///
/// ```swift
/// for try await event in engine.submit(Request("Hello!")) {
///   if case .text(let text) = event { print(text, terminator: "") }
/// }
/// ```
///
/// A complete answer ends the loop. If the reading task is cancelled, the loop throws `CancellationError`. Leaving the
/// loop early, or dropping a stream that was never read, cancels the answer within one step.
public struct AnswerStream<Element: Sendable>: AsyncSequence, Sendable {
  /// Adds elements to a stream, from any thread.
  public struct Continuation: Sendable {
    fileprivate let channel: AnswerChannel<Element>

    /// Adds an element; without effect after the end.
    public func yield(_ element: Element) { channel.yield(element) }

    /// Ends the stream, with an error or without; without effect after the end.
    public func finish(throwing error: (any Error)? = nil) { channel.finish(error) }

    /// Sets the function that is called once if the reader leaves before the end; immediately if it has left already.
    public func onCancel(_ action: @escaping @Sendable () -> Void) { channel.onCancel(action) }
  }

  /// Reads a stream; releasing it before the end cancels the answer.
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    fileprivate let reader: Reader

    /// The next element; nil at the end.
    public func next() async throws -> Element? { try await reader.channel.next() }
  }

  fileprivate final class Reader: Sendable {
    let channel: AnswerChannel<Element>
    init(_ channel: AnswerChannel<Element>) { self.channel = channel }
    deinit { channel.cancel() }
  }

  /// Cancels an answer that no iterator was made for.
  private final class Owner: Sendable {
    let channel: AnswerChannel<Element>
    init(_ channel: AnswerChannel<Element>) { self.channel = channel }
    deinit { channel.cancelUnlessRead() }
  }

  private let owner: Owner

  /// A stream of the elements that `build`, or a task that it starts, adds.
  public init(_ build: (Continuation) -> Void) {
    owner = Owner(AnswerChannel())
    build(Continuation(channel: owner.channel))
  }

  /// Reads the stream; once.
  public func makeAsyncIterator() -> Iterator {
    owner.channel.beginReading()
    return Iterator(reader: Reader(owner.channel))
  }
}

/// The elements between the engine's thread and the reader.
private final class AnswerChannel<Element: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  // Guarded by `lock`.
  private var buffer: [Element] = []
  private var numTaken = 0  // of `buffer`
  private var end: Result<Void, any Error>?
  private var waiter: CheckedContinuation<Element?, any Error>?
  private var cancellation: (@Sendable () -> Void)?
  private var isCancelled = false
  private var isRead = false

  func yield(_ element: Element) {
    let waiter = lock.withLock { () -> CheckedContinuation<Element?, any Error>? in
      guard end == nil, !isCancelled else { return nil }
      guard let waiter = self.waiter else {
        buffer.append(element)
        return nil
      }
      self.waiter = nil
      return waiter
    }
    waiter?.resume(returning: element)
  }

  func finish(_ error: (any Error)?) { if lock.withLock({ !isCancelled }) { close(error) } }

  /// The reader gets its error after the action: what it changes is visible to the reader.
  func cancel() {
    let (isFirst, action) = lock.withLock { () -> (Bool, (@Sendable () -> Void)?) in
      guard end == nil, !isCancelled else { return (false, nil) }
      defer { cancellation = nil }
      (isCancelled, buffer, numTaken) = (true, [], 0)
      return (true, cancellation)
    }
    action?()
    if isFirst { close(CancellationError()) }
  }

  /// The first call decides how the stream ends.
  private func close(_ error: (any Error)?) {
    let waiter = lock.withLock { () -> CheckedContinuation<Element?, any Error>? in
      guard end == nil else { return nil }
      defer { (self.waiter, cancellation) = (nil, nil) }
      // A waiting reader gets the error now; the next element after it is nil.
      end = self.waiter == nil ? error.map { .failure($0) } ?? .success(()) : .success(())
      return self.waiter
    }
    if let error { waiter?.resume(throwing: error) } else { waiter?.resume(returning: nil) }
  }

  func cancelUnlessRead() { if lock.withLock({ !isRead }) { cancel() } }

  func beginReading() { lock.withLock { isRead = true } }

  func onCancel(_ action: @escaping @Sendable () -> Void) {
    let isLate = lock.withLock {
      if end == nil { cancellation = action }
      return isCancelled
    }
    if isLate { action() }
  }

  func next() async throws -> Element? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if let ready = lock.withLock({ take(orWait: continuation) }) { continuation.resume(with: ready) }
      }
    } onCancel: {
      cancel()
    }
  }

  /// The next element or the end, if there is one already; called with the lock held.
  private func take(orWait continuation: CheckedContinuation<Element?, any Error>) -> Result<Element?, any Error>? {
    if numTaken < buffer.count {
      defer { if numTaken == buffer.count { (buffer, numTaken) = ([], 0) } }
      numTaken += 1
      return .success(buffer[numTaken - 1])
    }
    if let end {
      self.end = .success(())
      return end.map { nil }
    }
    if waiter != nil { return .failure(PagodaError.invalidArgument("two tasks read one stream")) }
    waiter = continuation
    return nil
  }
}
