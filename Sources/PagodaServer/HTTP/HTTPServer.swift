// HTTPServer: HTTP/1.1 on an address. One thread moves bytes (EventLoop); work runs on a queue.
import Foundation

final class HTTPServer: @unchecked Sendable {
  let service: any HTTPService
  let limits: HTTPLimits
  let load = ConnectionLoad()
  private(set) var port: UInt16 = 0
  private var loop: EventLoop?
  private var unixPath: String?
  private let workers = OperationQueue()
  private let largeBodies: LargeBodies
  private let security: (any TransportSecurity)?

  init(_ service: any HTTPService, limits: HTTPLimits, security: (any TransportSecurity)? = nil) {
    self.service = service
    self.security = security
    self.limits = limits
    let count = max(2, ProcessInfo.processInfo.activeProcessorCount)
    workers.maxConcurrentOperationCount = count
    workers.qualityOfService = .userInitiated
    largeBodies = LargeBodies(maximumRunning: count / 2) { [workers] in workers.addOperation($0) }
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
    try start(listener)
  }

  /// Listens on a socket in the file system.
  func start(unix path: String) throws {
    do {
      try start(try UnixSocket.listener(path))
    } catch let error as ServerError {
      throw ServerError("cannot listen on \(path): \(error.message)")
    }
    unixPath = path
  }

  /// Owns the listener.
  private func start(_ listener: Int32) throws {
    guard let poller = Pollers.make(), let mailbox = Mailbox() else {
      let reason = String(cString: strerror(errno))
      close(listener)
      throw ServerError("the server cannot start: \(reason)")
    }
    Sockets.raiseDescriptorLimit(to: limits.connections + limits.reserve + 256)
    let context = ConnectionContext(
      service: service, limits: limits, mailbox: mailbox, load: load, addresses: AddressLimits(limits),
      security: security
    ) { [workers, largeBodies, service] exchange, work in
      if exchange.isLarge {
        largeBodies.add(from: service.sender(of: exchange.head), work)
      } else {
        workers.addOperation(work)
      }
    }
    let loop = EventLoop(listener: listener, poller: poller, context)
    loop.start()
    self.loop = loop
  }

  /// Accepts no new connections from now on.
  func stopAccepting() { loop?.stopAccepting() }

  /// Cuts off requests in flight and ends the thread. Blocks; does nothing the second time.
  func stop(cutWith response: HTTPResponse) {
    loop?.stop(cutWith: response)
    loop = nil
    if let unixPath { unlink(unixPath) }
    unixPath = nil
  }

  func run(_ work: @escaping @Sendable () -> Void) { workers.addOperation(work) }
}

/// An error of the server itself, such as an address in use.
public struct ServerError: Error, CustomStringConvertible {
  /// The error in one sentence.
  public var message: String
  /// The message.
  public var description: String { message }

  package init(_ message: String) { self.message = message }
}
