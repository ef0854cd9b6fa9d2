// Connection: a socket of the library, the request it is at, and whether the client is still there.
import Foundation

final class Connection: @unchecked Sendable {
  private let socket: Int32  // the library's; known to be open while the watch has this object
  private let lock = NSLock()
  // Guarded by `lock`.
  private var exchange: Exchange?
  private var isAnswering = false
  private var begun = 0  // requests, the present one among them
  private var refusal: (request: Int, error: FramingError)?

  init(socket: Int32) { self.socket = socket }

  /// From the gate, before the library gets to read the end of the request: that one, counted from 1, is broken.
  func refuse(_ request: Int, with error: FramingError) { lock.withLock { refusal = (request, error) } }

  /// The next request has come, as far as its headers.
  func count() { lock.withLock { begun += 1 } }

  /// What is wrong with the present request.
  var error: FramingError? { lock.withLock { refusal?.request == begun ? refusal?.error : nil } }

  func begin(_ exchange: Exchange) { lock.withLock { self.exchange = exchange } }

  func bodyEnded() { lock.withLock { isAnswering = true } }

  func end() {
    lock.withLock {
      exchange = nil
      isAnswering = false
    }
  }

  var current: Exchange? { lock.withLock { exchange } }

  enum Finding {
    case nothing
    case clientLeft(Exchange)
    case waiting(Exchange)
  }

  /// Notices clients that left. Called while the socket is known to be open.
  func look() -> Finding {
    guard let exchange = lock.withLock({ isAnswering ? exchange : nil }) else { return .nothing }
    return clientIsGone ? .clientLeft(exchange) : .waiting(exchange)
  }

  /// A client that has closed its side is taken to be gone: who still wants an answer keeps the connection open.
  private var clientIsGone: Bool {
    var byte: UInt8 = 0
    let count = recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    if count == 0 || (count < 0 && errno == ECONNRESET) { return true }
    // The gate lets go of a client that broke off also while requests behind this one have not been read.
    var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP) != 0
  }
}

/// All open connections of a server, looked at ten times a second by a thread of its own.
final class ConnectionWatch: @unchecked Sendable {
  private let lock = NSLock()
  private var connections: [ObjectIdentifier: Connection] = [:]
  private var isStopped = false
  private let keepAliveSeconds: Double
  private let lastWords: @Sendable (HTTPRequest) -> HTTPResponse

  /// `lastWords`: for a client that has closed its side, in case it still reads.
  init(keepAliveSeconds: Double, lastWords: @escaping @Sendable (HTTPRequest) -> HTTPResponse) {
    self.keepAliveSeconds = keepAliveSeconds
    self.lastWords = lastWords
  }

  func start() {
    let thread = Thread { [self] in
      while tick() { Thread.sleep(forTimeInterval: 0.1) }
    }
    thread.name = "pagoda-http-watch"
    thread.start()
  }

  func stop() { lock.withLock { isStopped = true } }

  func add(_ connection: Connection) { lock.withLock { connections[ObjectIdentifier(connection)] = connection } }

  /// After this the socket may be closed and its number used again.
  func remove(_ connection: Connection) {
    lock.withLock { _ = connections.removeValue(forKey: ObjectIdentifier(connection)) }
  }

  var count: Int { lock.withLock { connections.count } }

  var exchanges: [Exchange] { lock.withLock { connections.values.compactMap(\.current) } }

  /// Sockets are looked at under the lock, which keeps them open; exchanges are told without it, because that may wait
  /// for a thread of the library that wants to remove a connection.
  private func tick() -> Bool {
    let now = monotonicSeconds()
    let (findings, goesOn) = lock.withLock { (connections.values.map { $0.look() }, !isStopped) }
    for finding in findings {
      switch finding {
      case .nothing: break
      case .clientLeft(let exchange): exchange.leave(with: lastWords(exchange.request))
      case .waiting(let exchange): exchange.tick(at: now, keepAlive: keepAliveSeconds)
      }
    }
    return goesOn
  }
}
