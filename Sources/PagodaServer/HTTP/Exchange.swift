// Exchange: one request and its answer. Made by the connection's thread, answered from any.
import CMicroHTTPD
import Foundation

final class Exchange: @unchecked Sendable {
  private enum Answer {
    case none
    case ready(HTTPReply)
    case sent
    case gone  // the client left
  }

  let start = monotonicSeconds()
  /// The client's own if it has a plain one: what it logs and what is logged here then agree.
  let id: String
  private let lock = NSLock()
  // Guarded by `lock`.
  private var answer = Answer.none
  private var suspended: OpaquePointer?
  private var onGone: (@Sendable () -> Void)?
  private var stream: StreamBody?
  private var storedStatus = 499

  // Of the connection's thread until the work begins, constant afterwards.
  private(set) var request: HTTPRequest
  let action: HTTPAction
  private(set) var receivedBytes = 0
  private var hasBegun = false
  private let maximumBody: Int

  init(_ request: HTTPRequest, action: HTTPAction, maximumBody: Int) {
    self.request = request
    let given = request.values("x-request-id").first ?? ""
    let isPlain = given.utf8.allSatisfy {
      $0 < 0x80
        && (Character(Unicode.Scalar($0)).isLetter || Character(Unicode.Scalar($0)).isNumber
          || "._:-".utf8.contains($0))
    }
    id = isPlain && (1...128).contains(given.utf8.count) ? given : randomID("req_")
    self.action = action
    self.maximumBody = maximumBody
  }

  /// What was answered; 499 when the client was gone.
  var status: Int { lock.withLock { storedStatus } }

  var isBodyTooLarge: Bool { receivedBytes > maximumBody }

  func receive(_ bytes: UnsafeRawBufferPointer) {
    receivedBytes += bytes.count
    guard case .work = action, !isBodyTooLarge else {
      request.body = []
      return
    }
    request.body.append(contentsOf: bytes)
  }

  /// By the worker, before anything reads the body: what it was made from is no longer needed.
  func replaceBody(_ bytes: [UInt8]) { request.body = bytes }

  /// True once: when the body is complete.
  func beginAnswering() -> Bool {
    defer { hasBegun = true }
    return !hasBegun
  }

  /// Answers. The first answer counts; none does once the client is gone.
  func reply(_ reply: HTTPReply) {
    lock.withLock {
      guard case .none = answer else { return }
      answer = .ready(reply)
      if case .stream(_, let body) = reply { stream = body }
      wake()
    }
  }

  /// Sets what happens when the client goes away; at once if it has.
  func onGone(_ action: @escaping @Sendable () -> Void) {
    let isGone = lock.withLock {
      if case .gone = answer { return true }
      onGone = action
      return false
    }
    if isGone { action() }
  }

  /// The client went away, or is too slow: stops the work and lets the connection end.
  func abandon() {
    let action = lock.withLock { () -> (@Sendable () -> Void)? in
      if case .none = answer { answer = .gone }
      wake()
      defer { onGone = nil }
      return onGone
    }
    action?()
    lock.withLock { stream }?.close()
  }

  /// The client has closed its side: stops the work. A stream just ends; who waits for a whole answer is told why there
  /// is none, because it may have closed only the half that it sent on.
  func leave(with response: HTTPResponse) {
    let isStream = lock.withLock { stream != nil }
    if !isStream { reply(.whole(response)) }
    abandon()
  }

  /// The library is done with the request; work still running is cancelled.
  func complete() {
    abandon()
    lock.withLock {
      answer = .gone
      stream = nil
    }
  }

  func tick(at now: Double, keepAlive: Double) {
    guard let stream = lock.withLock({ stream }), stream.silence(at: now) >= keepAlive else { return }
    stream.push(.keepAlive)
  }

  /// Ends a stream with an error event; cuts what has not been answered.
  func cut(with response: HTTPResponse) {
    if let stream = lock.withLock({ stream }) { return stream.push(.cut) }
    reply(.whole(response))
    lock.withLock { () -> (@Sendable () -> Void)? in
      defer { onGone = nil }
      return onGone
    }?()
  }

  private func wake() {
    guard let connection = suspended else { return }
    suspended = nil
    MHD_resume_connection(connection)
  }

  enum Next {
    case send(HTTPReply)
    case wait
    case drop
  }

  /// What the connection's thread does now: send, or wait suspended until there is something to send.
  func next(_ connection: OpaquePointer, maySuspend: Bool) -> Next {
    lock.withLock {
      switch answer {
      case .ready(let reply):
        answer = .sent
        if case .whole(let response) = reply { storedStatus = response.status } else { storedStatus = 200 }
        return .send(reply)
      case .none:
        guard maySuspend else { return .drop }
        suspended = connection
        MHD_suspend_connection(connection)
        return .wait
      case .sent, .gone: return .drop
      }
    }
  }
}
