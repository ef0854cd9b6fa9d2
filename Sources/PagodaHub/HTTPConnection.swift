// HTTPConnection: one HTTP request at a time; streams the body, and aborts stalled transfers.
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Status and headers of a response.
struct HTTPHead: Sendable {
  var status: Int
  var headers: [String: String]  // lower-case names
}

/// Why a request got no response; all of these may be transient.
struct TransportFailure: Error {
  var message: String
}

/// Sends requests one at a time over the connections of one session. Not for concurrent use.
final class HTTPConnection: Sendable {
  private let delegate: TransferDelegate
  private let session: URLSession

  init(settings: HubSettings) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpShouldSetCookies = false
    // The delegate's own timer watches the transfer: on some platforms this timeout does not detect trickling bytes. It is
    // long, because FoundationNetworking traps when it expires while a task waits for the answer to a redirect.
    configuration.timeoutIntervalForRequest = max(settings.stallSeconds * 4, 60)
    configuration.timeoutIntervalForResource = 7 * 86400
    delegate = TransferDelegate(stallSeconds: settings.stallSeconds)
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: delegate.queue)
  }

  deinit { session.finishTasksAndInvalidate() }

  /// Returns after the whole body has been passed to `onData`. An error thrown by a closure aborts the transfer and is
  /// rethrown.
  func send(
    _ request: URLRequest, onHead: @escaping @Sendable (HTTPHead) throws -> Void,
    onData: @escaping @Sendable (Data) throws -> Void
  ) async throws {
    let task = session.dataTask(with: request)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        delegate.begin(Transfer(task: task, onHead: onHead, onData: onData, continuation: continuation))
        task.resume()
        if Task.isCancelled { delegate.end(task, CancellationError()) }
      }
    } onCancel: {
      delegate.end(task, CancellationError())
    }
  }
}

/// A request in flight.
private struct Transfer {
  let task: URLSessionDataTask
  let onHead: @Sendable (HTTPHead) throws -> Void
  let onData: @Sendable (Data) throws -> Void
  let continuation: CheckedContinuation<Void, any Error>
  var failure: (any Error)?  // our own error; the session then only reports the cancellation
  var lastActivity = Date()
  var redirects = 0
  var hasHead = false
}

/// Forwards the session's callbacks to the transfer in flight. The session calls it on `queue`, one call at a time; the timer and
/// the senders use other threads.
private final class TransferDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  let queue = OperationQueue()
  private let lock = NSLock()
  private var transfer: Transfer?
  private let stallSeconds: Double
  private static let maximumRedirects = 10
  private let clock = DispatchSource.makeTimerSource(queue: .global())

  init(stallSeconds: Double) {
    self.stallSeconds = stallSeconds
    super.init()
    queue.maxConcurrentOperationCount = 1
    clock.setEventHandler { [weak self] in self?.endIfStalled() }
    clock.schedule(deadline: .now() + stallSeconds / 4, repeating: stallSeconds / 4)
    clock.resume()
  }

  deinit { clock.cancel() }

  func begin(_ transfer: Transfer) { lock.withLock { self.transfer = transfer } }

  /// Before the head of the response has arrived, the task is not cancelled but left to its own timeout, and its callbacks are
  /// ignored: FoundationNetworking traps if a task is cancelled while it waits for the delegate's answer to a redirect.
  func end(_ task: URLSessionTask, _ error: any Error) {
    queue.addOperation { [self] in
      let abandoned = lock.withLock {
        guard isCurrent(task), transfer?.failure == nil else { return nil as Transfer? }
        if transfer?.hasHead == true {
          fail(error)
          return nil
        }
        defer { transfer = nil }
        return transfer
      }
      abandoned?.continuation.resume(throwing: error)
    }
  }

  private func endIfStalled() {
    let stalled = lock.withLock {
      transfer.flatMap { Date().timeIntervalSince($0.lastActivity) > stallSeconds ? $0.task : nil }
    }
    guard let stalled else { return }
    end(stalled, TransportFailure(message: "no data arrived for \(Int(stallSeconds.rounded(.up))) seconds"))
  }

  /// Requires the lock.
  private func isCurrent(_ task: URLSessionTask) -> Bool { transfer?.task.taskIdentifier == task.taskIdentifier }

  /// Requires the lock.
  private func fail(_ error: any Error) {
    if transfer?.failure == nil { transfer?.failure = error }
    transfer?.task.cancel()
  }

  private func current(_ task: URLSessionTask) -> Transfer? {
    lock.withLock {
      guard isCurrent(task), transfer?.failure == nil else { return nil }
      transfer?.lastActivity = Date()
      return transfer
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    guard let original = task.originalRequest, let from = original.url, let to = request.url else {
      return completionHandler(nil)
    }
    let redirects = lock.withLock {
      guard isCurrent(task) else { return nil as Int? }
      transfer?.redirects += 1
      return transfer?.redirects
    }
    guard let redirects else { return completionHandler(nil) }
    if redirects > Self.maximumRedirects {
      return refuse("\(from.host ?? "the hub") redirects in a circle", completionHandler)
    }
    if from.scheme == "https" && to.scheme != "https" {
      return refuse("\(from.host ?? "the hub") redirects to an address without encryption", completionHandler)
    }
    // The token must only go to the hub; Range must be kept. Platforms differ in both, so both are set here.
    var next = URLRequest(url: to)
    let isSameServer = (from.scheme, from.host, from.port) == (to.scheme, to.host, to.port)
    for (name, value) in original.allHTTPHeaderFields ?? [:] where isSameServer || name != "Authorization" {
      next.setValue(value, forHTTPHeaderField: name)
    }
    completionHandler(next)
  }

  /// Does not cancel the task: FoundationNetworking traps if that happens while it waits for this completion handler.
  /// It then delivers the redirect response itself, which `didReceive` rejects.
  private func refuse(_ reason: String, _ completionHandler: @Sendable (URLRequest?) -> Void) {
    lock.withLock { transfer?.failure = HubError.damaged(reason) }
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let isAbandoned = lock.withLock {
      if isCurrent(dataTask) { transfer?.hasHead = true }
      return !isCurrent(dataTask)
    }
    if isAbandoned { dataTask.cancel() }
    guard let transfer = current(dataTask), let response = response as? HTTPURLResponse else {
      return completionHandler(.cancel)
    }
    var headers: [String: String] = [:]
    for (name, value) in response.allHeaderFields { headers["\(name)".lowercased()] = "\(value)" }
    do {
      try transfer.onHead(HTTPHead(status: response.statusCode, headers: headers))
      completionHandler(.allow)
    } catch {
      lock.withLock { fail(error) }
      completionHandler(.cancel)
    }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard let transfer = current(dataTask) else { return }
    do {
      try transfer.onData(data)
    } catch {
      lock.withLock { fail(error) }
    }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let ended = lock.withLock {
      guard isCurrent(task) else { return nil as Transfer? }
      defer { transfer = nil }
      return transfer
    }
    guard let ended else { return }
    if let failure = ended.failure {
      ended.continuation.resume(throwing: failure)
    } else if let error {
      let isCancelled = (error as? URLError)?.code == .cancelled
      ended.continuation.resume(
        throwing: isCancelled ? CancellationError() : TransportFailure(message: error.localizedDescription))
    } else {
      ended.continuation.resume()
    }
  }
}
