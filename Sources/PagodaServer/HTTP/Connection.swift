// Connection: one socket, and the deadlines that keep it from being held for nothing.
import Foundation

final class Connection: @unchecked Sendable {
  private enum State {
    case headers(deadline: Double)
    case body(start: Double)
    case answering
  }

  private let socket: Int32
  private let limits: HTTPLimits
  private let lock = NSLock()
  private var state: State  // guarded by `lock`
  private var exchange: Exchange?  // guarded by `lock`

  init(socket: Int32, limits: HTTPLimits) {
    self.socket = socket
    self.limits = limits
    state = .headers(deadline: monotonicSeconds() + limits.headerSeconds)
  }

  func begin(_ exchange: Exchange) {
    lock.withLock {
      self.exchange = exchange
      state = .body(start: monotonicSeconds())
    }
  }

  func bodyEnded() { lock.withLock { state = .answering } }

  func end() {
    lock.withLock {
      exchange = nil
      state = .headers(deadline: monotonicSeconds() + limits.idleSeconds)
    }
  }

  var current: Exchange? { lock.withLock { exchange } }

  enum Finding {
    case nothing
    case clientLeft(Exchange)
    case waiting(Exchange)
  }

  /// Hangs up on clients that are too slow, and notices those that left. Called while the socket is known to be open.
  func look(at now: Double) -> Finding {
    let (state, exchange) = lock.withLock { (self.state, self.exchange) }
    switch state {
    case .headers(let deadline):
      if now > deadline { hangUp() }
    case .body(let start):
      let allowed = limits.bodySeconds + Double(exchange?.receivedBytes ?? 0) / Double(limits.bodyRate)
      if now - start > allowed { hangUp() }
    case .answering:
      guard let exchange else { break }
      return clientIsGone ? .clientLeft(exchange) : .waiting(exchange)
    }
    return .nothing
  }

  /// The library's thread sees the end of the stream and cleans up.
  func hangUp() { _ = shutdown(socket, Int32(SHUT_RDWR)) }

  /// A client that has closed its side is taken to be gone: who still wants an answer keeps the connection open.
  private var clientIsGone: Bool {
    var byte: UInt8 = 0
    let count = recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    return count == 0 || (count < 0 && errno == ECONNRESET)
  }
}

/// All open connections of a server, looked at ten times a second by a thread of its own.
final class ConnectionWatch: @unchecked Sendable {
  private let lock = NSLock()
  private var connections: [ObjectIdentifier: Connection] = [:]
  private var isStopped = false
  private let keepAliveSeconds: Double

  init(keepAliveSeconds: Double) { self.keepAliveSeconds = keepAliveSeconds }

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
    let (findings, goesOn) = lock.withLock { (connections.values.map { $0.look(at: now) }, !isStopped) }
    for finding in findings {
      switch finding {
      case .nothing: break
      case .clientLeft(let exchange): exchange.abandon()
      case .waiting(let exchange): exchange.tick(at: now, keepAlive: keepAliveSeconds)
      }
    }
    return goesOn
  }
}
