// Exchange: one request and its answer. Created by the event loop, answered from any thread.
import Foundation

final class Exchange: @unchecked Sendable {
  private enum Answer {
    case none
    case ready(HTTPReply)
    case sent
    case gone  // the client has disconnected
  }

  let start = monotonicSeconds()
  /// The client's own id if it is plain, so that both logs agree.
  let id: String
  private let lock = NSLock()
  // Guarded by `lock`.
  private var answer = Answer.none
  private var onReady: (@Sendable () -> Void)?
  private var onGone: (@Sendable () -> Void)?
  private var stream: StreamBody?
  private var storedStatus = 499

  /// The request without its body.
  let head: HTTPRequest
  // Belongs to the event loop until the work starts, then to the worker.
  private(set) var request: HTTPRequest
  let action: HTTPAction
  let record = AccessRecord()
  /// The request's place in a distributed trace; nil if it belongs to none.
  let trace: TraceContext?
  private(set) var receivedBytes = 0
  private let maximumBody: Int

  // Used only by the event loop.
  var sentBytes = 0  // to the client, for this answer
  var isWhole = false  // all of the answer has been sent

  init(_ request: HTTPRequest, action: HTTPAction, maximumBody: Int, trace: TraceContext? = nil) {
    self.request = request
    self.trace = trace
    head = request
    let given = request.values("x-request-id").first ?? ""
    let isPlain = given.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"):
        true
      default: "._:-".utf8.contains($0)
      }
    }
    id = isPlain && (1...128).contains(given.utf8.count) ? given : randomID("req_")
    self.action = action
    self.maximumBody = maximumBody
  }

  /// The status of the answer; 499 if the client had disconnected.
  var status: Int { lock.withLock { storedStatus } }

  var isBodyTooLarge: Bool { receivedBytes > maximumBody }

  /// Whether reading the body takes long; a compressed one is larger than it looks.
  var isLarge: Bool { receivedBytes >= LargeBodies.bytes || !head.values("content-encoding").isEmpty }

  func receive(_ bytes: ArraySlice<UInt8>) {
    receivedBytes += bytes.count
    guard case .work = action, !isBodyTooLarge else {
      request.body = []
      return
    }
    request.body += bytes
  }

  /// Called by the worker before it reads the body: the original bytes are no longer needed.
  func replaceBody(_ bytes: [UInt8]) { request.body = bytes }

  /// Answers. Only the first answer counts, and none once the client has disconnected.
  func reply(_ reply: HTTPReply) {
    let wake = lock.withLock { () -> (@Sendable () -> Void)? in
      guard case .none = answer else { return nil }
      answer = .ready(reply)
      if case .stream(_, let body) = reply { stream = body }
      return onReady
    }
    wake?()
  }

  /// Whether the client has disconnected.
  var isGone: Bool {
    lock.withLock {
      if case .gone = answer { true } else { false }
    }
  }

  /// Sets the action for when the client disconnects; called immediately if it has.
  func onGone(_ action: @escaping @Sendable () -> Void) {
    let isGone = lock.withLock {
      if case .gone = answer { return true }
      onGone = action
      return false
    }
    if isGone { action() }
  }

  /// The client has disconnected: stops the work and lets the connection end.
  func abandon() {
    let (action, wake) = lock.withLock { () -> ((@Sendable () -> Void)?, (@Sendable () -> Void)?) in
      if case .none = answer { answer = .gone }
      defer { onGone = nil }
      return (onGone, onReady)
    }
    action?()
    lock.withLock { stream }?.close()
    wake?()
  }

  /// The client has closed its side: stops the work. A stream just ends; a client that waits for a whole answer gets an
  /// error, because it may have closed only its sending half.
  func leave(with response: HTTPResponse) {
    let isStream = lock.withLock { stream != nil }
    if !isStream { reply(.whole(response)) }
    abandon()
  }

  /// The connection is done with the request; work still running is cancelled.
  func complete() {
    lock.withLock { onReady = nil }
    abandon()
    lock.withLock {
      answer = .gone
      stream = nil
    }
  }

  /// Ends a stream with an error event; cuts off an unanswered request.
  func cut(with response: HTTPResponse) {
    if let stream = lock.withLock({ stream }) { return stream.push(.cut(.shuttingDown)) }
    reply(.whole(response))
    stopWork()
  }

  /// Stops the work, as when the client has disconnected; what has been generated for it is still sent.
  func stopWork() {
    lock.withLock { () -> (@Sendable () -> Void)? in
      defer { onGone = nil }
      return onGone
    }?()
  }

  /// Called, on any thread, whenever `next` has something new.
  func attach(_ onReady: @escaping @Sendable () -> Void) { lock.withLock { self.onReady = onReady } }

  enum Next {
    case send(HTTPReply)
    case wait
    case drop
  }

  /// The next action of the event loop.
  func next() -> Next {
    lock.withLock {
      switch answer {
      case .ready(let reply):
        answer = .sent
        if case .whole(let response) = reply { storedStatus = response.status } else { storedStatus = 200 }
        return .send(reply)
      case .none: return .wait
      case .sent, .gone: return .drop
      }
    }
  }
}
