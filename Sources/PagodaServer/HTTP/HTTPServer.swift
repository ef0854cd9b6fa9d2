// HTTPServer: libmicrohttpd with a pool of polling threads behind a gate. Its threads only move bytes; work runs on a
// queue.
import CMicroHTTPD
import Foundation

final class HTTPServer: @unchecked Sendable {
  let service: any HTTPService
  let limits: HTTPLimits
  let watch: ConnectionWatch
  private(set) var port: UInt16 = 0
  private var daemon: OpaquePointer?
  private var gate: Gate?
  private let workers = OperationQueue()
  private let suspending = NSLock()
  private var isStopping = false  // guarded by `suspending`
  private let arriving = NSLock()
  private var arrivals: [Int32: Connection] = [:]  // by socket, on their way through the library; guarded by `arriving`

  init(_ service: any HTTPService, limits: HTTPLimits) {
    self.service = service
    self.limits = limits
    watch = ConnectionWatch(keepAliveSeconds: limits.keepAliveSeconds) { [service] in
      service.refusal(of: $0, .clientLeft).closing()
    }
    workers.maxConcurrentOperationCount = max(2, ProcessInfo.processInfo.activeProcessorCount)
    workers.qualityOfService = .userInitiated
  }

  /// Listens on an address; port 0 picks a free one.
  func start(host: String, port: UInt16) throws {
    let listener: Int32
    do {
      listener = try SocketAddress.resolve(host: host, port: port).listener()
    } catch let error as ServerError {
      throw ServerError("cannot listen on \(host) port \(port): \(error.message)")
    }
    self.port = SocketAddress.port(of: listener)
    do {
      gate = try Gate(listener: listener, limits: limits) { [unowned self] in admit($0, $1, $2) }
    } catch {
      close(listener)
      throw error
    }
    // The gate keeps to the limit of connections; here some may not have noticed yet that their client is gone.
    var options = PagodaHTTPLimits(
      num_threads: UInt32(limits.threads), max_connections: UInt32(2 * limits.connections),
      max_connections_per_address: 0, idle_seconds: UInt32(limits.idleSeconds), header_bytes: 64 << 10)
    let context = Unmanaged.passUnretained(self).toOpaque()
    daemon = pagoda_http_start(&options, handleRequest, requestCompleted, connectionChanged, context)
    if daemon == nil {
      gate = nil
      throw ServerError("the HTTP library did not start: \(String(cString: strerror(errno)))")
    }
    watch.start()
    gate?.start()
  }

  /// On the gate's thread: the library owns the socket from here on, also if it does not take it.
  private func admit(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Connection? {
    let connection = Connection(socket: socket)
    arriving.withLock { arrivals[socket] = connection }
    if MHD_add_connection(daemon, socket, address, length) == .YES { return connection }
    arriving.withLock { _ = arrivals.removeValue(forKey: socket) }
    return nil
  }

  /// On the library's thread: what the gate knows a new socket by.
  func arrived(_ socket: Int32) -> Connection {
    arriving.withLock { arrivals.removeValue(forKey: socket) } ?? Connection(socket: socket)
  }

  /// No new connections from now on.
  func stopAccepting() { gate?.stopAccepting() }

  /// Cuts what is still going on and ends the threads. Blocks; does nothing the second time.
  func stop(cutWith response: HTTPResponse) {
    guard let daemon else { return }
    gate?.stopAccepting()
    suspending.withLock { isStopping = true }
    for exchange in watch.exchanges { exchange.cut(with: response) }
    // Half a second for the last words, then no connection may be suspended any more.
    for _ in 0..<50 where !watch.exchanges.isEmpty { Thread.sleep(forTimeInterval: 0.01) }
    for exchange in watch.exchanges { exchange.abandon() }
    MHD_stop_daemon(daemon)
    self.daemon = nil
    gate?.stop()
    gate = nil
    watch.stop()
  }

  /// The library aborts when it is stopped while a connection is suspended, so a request that comes that late is dropped.
  func next(_ exchange: Exchange, _ connection: OpaquePointer) -> Exchange.Next {
    suspending.withLock { exchange.next(connection, maySuspend: !isStopping) }
  }

  func run(_ work: @escaping @Sendable () -> Void) { workers.addOperation(work) }
}

/// Something about the server itself that cannot work, such as an address in use.
public struct ServerError: Error, CustomStringConvertible {
  /// What happened, in one sentence.
  public var message: String
  /// The message.
  public var description: String { message }

  package init(_ message: String) { self.message = message }
}
