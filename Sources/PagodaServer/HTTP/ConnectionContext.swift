// ConnectionContext: the state shared by the connections of a server, and their count.
import Foundation

/// State shared by connections.
struct ConnectionContext: Sendable {
  var service: any HTTPService
  var limits: HTTPLimits
  var mailbox: Mailbox
  var load: ConnectionLoad
  var addresses: AddressLimits
  /// Encrypts all connections; nil for plain HTTP.
  var security: (any TransportSecurity)?
  /// Runs the work of a request on another thread.
  var run: @Sendable (Exchange, @escaping @Sendable () -> Void) -> Void
}

/// The number of connections and requests. Written by the event loop, read by any thread.
final class ConnectionLoad: @unchecked Sendable {
  private let lock = NSLock()
  private var stored = (connections: 0, exchanges: 0, bodyBytes: 0)  // guarded by `lock`

  func add(connections: Int = 0, exchanges: Int = 0, bodyBytes: Int = 0) {
    lock.withLock {
      stored.connections += connections
      stored.exchanges += exchanges
      stored.bodyBytes += bodyBytes
    }
  }

  var connections: Int { lock.withLock { stored.connections } }
  var exchanges: Int { lock.withLock { stored.exchanges } }
  /// Body bytes of all requests being read or answered.
  var bodyBytes: Int { lock.withLock { stored.bodyBytes } }
}
