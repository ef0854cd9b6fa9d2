// EventLoop: the thread that accepts clients, waits for all of them, and lets each make progress.
import Foundation

final class EventLoop: @unchecked Sendable {
  /// Minimum seconds between two checks of all deadlines.
  private static let tick = 0.02

  private let context: ConnectionContext
  private let poller: any Poller
  private let ended = DispatchSemaphore(value: 0)

  private let lock = NSLock()
  // Guarded by `lock`.
  private var isAccepting = true
  private var closingResponse: HTTPResponse?

  // Used only on the loop's thread.
  private var listener: Int32
  private var connections: [Int32: Connection] = [:]  // by socket
  private var waiting = WaitingClients()  // without the extra clients
  private var extraWaiting = WaitingClients()
  private var extras = 0
  private var nextLook = Double.infinity  // time of the next check of the deadlines
  private var acceptsAgain = 0.0  // time to accept again; in the future while descriptors are exhausted
  private var stopTime: Double?  // when clients that do not read the rest are disconnected

  /// Owns the listener.
  init(listener: Int32, poller: any Poller, _ context: ConnectionContext) {
    self.listener = listener
    self.poller = poller
    self.context = context
    poller.set(context.mailbox.descriptor, .read)
  }

  func start() {
    let thread = Thread { [self] in
      run()
      ended.signal()
    }
    thread.name = "pagoda-http"
    thread.start()
  }

  /// Accepts no new connections from now on.
  func stopAccepting() {
    lock.withLock { isAccepting = false }
    context.mailbox.wake()
  }

  /// Ends the thread, once. Requests in flight are cut off; clients get half a second to receive their data.
  func stop(cutWith response: HTTPResponse) {
    lock.withLock {
      isAccepting = false
      closingResponse = response
    }
    context.mailbox.wake()
    ended.wait()
  }

  private func run() {
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { scratch.deallocate() }
    while !hasStopped() {
      watchListener()
      let ready = poller.wait(seconds: nextLook == .infinity ? nil : nextLook - monotonicSeconds())
      turn(ready, monotonicSeconds(), scratch)
    }
    closeListener()
    for connection in connections.values {
      connection.close()
      settle(connection)
    }
    context.mailbox.close()
  }

  /// Sockets first: a short request is answered before the streams are served. New clients last: events found
  /// earlier for the socket of a disconnected client must not be attributed to a new one.
  private func turn(_ ready: [Readiness], _ now: Double, _ scratch: UnsafeMutableRawBufferPointer) {
    for entry in ready {
      guard let connection = connections[entry.socket] else { continue }
      connection.handle(entry, now: now, scratch: scratch)
      settle(connection)
      if connection.waiting?.part == .body || hasTooManyBytes { boundBodies(of: connection.address, now) }
    }
    for connection in context.mailbox.take() where connections[connection.socket] === connection {
      connection.advance(now)
      settle(connection)
    }
    let (accepting, closingResponse) = lock.withLock { (isAccepting, self.closingResponse) }
    if !accepting { closeListener() }
    if let closingResponse, stopTime == nil { stop(with: closingResponse, now) }
    if now >= nextLook { expire(now) }
    if listener >= 0, ready.contains(where: { $0.socket == listener }) { accept(now) }
  }

  /// Called after a connection has made progress.
  private func settle(_ connection: Connection) {
    note(connection)
    if connection.stage == .closed {
      poller.remove(connection.socket)
      close(connection.socket)
      connections[connection.socket] = nil
      extras -= connection.isExtra ? 1 : 0
      context.load.add(connections: -1)
      context.addresses.add(connection.address, connections: -1)
    } else {
      poller.set(connection.socket, connection.interest)
      nextLook = min(nextLook, connection.deadline)
    }
  }

  private func expire(_ now: Double) {
    nextLook = acceptsAgain > now ? acceptsAgain : .infinity
    for connection in connections.values {
      if connection.deadline <= now {
        connection.expire(now)
        settle(connection)
      }
      nextLook = min(nextLook, connection.deadline)
    }
    if let stopTime { nextLook = min(nextLook, stopTime) }
    nextLook = max(nextLook, now + Self.tick)
  }

  private func stop(with response: HTTPResponse, _ now: Double) {
    stopTime = now + 0.5
    nextLook = min(nextLook, now + 0.5)
    for connection in connections.values {
      connection.stop(with: response, now: now)
      settle(connection)
    }
  }

  private func hasStopped() -> Bool {
    guard let stopTime else { return false }
    return monotonicSeconds() >= stopTime || connections.values.allSatisfy(\.isFinished)
  }

  // MARK: Making room

  /// Maintains the lists of clients that may have to be disconnected.
  private func note(_ connection: Connection) {
    let now = connection.waiting
    if now == connection.noted { return }
    connection.noted = now
    if connection.isExtra {
      extraWaiting.set(connection.socket, connection.address, now)
    } else {
      waiting.set(connection.socket, connection.address, now)
    }
  }

  /// Unfinished bodies are bounded in number, per address and in total, and in bytes together with complete ones.
  /// Beyond that the slowest is given up, whichever arrived last, because it keeps the others waiting.
  private func boundBodies(of address: String, _ now: Double) {
    while waiting.bodies(of: address) > context.addresses.mostBodies(address),
      evict(waiting.slowestBody(of: address), .evicted, now)
    {}
    while waiting.bodies > context.limits.unfinishedBodies, evict(waiting.slowestBody(), .evicted, now) {}
    while hasTooManyBytes, evict(waiting.slowestWithBytes(), .bodies, now) {}
  }

  private var hasTooManyBytes: Bool { context.load.bodyBytes > context.limits.allBodyBytes }

  /// False if there is none.
  private func evict(_ socket: Int32?, _ error: FramingError, _ now: Double) -> Bool {
    guard let socket, let connection = connections[socket] else { return false }
    connection.fail(error, now)
    settle(connection)
    return true
  }

  // MARK: The listener

  private func watchListener() {
    if listener < 0 { return }
    let now = monotonicSeconds()
    let accepts = hasRoom && now >= acceptsAgain
    poller.set(listener, accepts ? .read : [])
    if acceptsAgain > now { nextLook = min(nextLook, acceptsAgain) }
  }

  private var isFull: Bool { connections.count - extras >= context.limits.connections }

  private var hasRoom: Bool {
    !isFull || extras < context.limits.reserve || !waiting.isEmpty || !extraWaiting.isEmpty
  }

  /// When the server is full, idle clients make room for new ones, then those with incomplete requests. When all
  /// requests are complete, a few extra clients are accepted to be told so, and for health checks.
  private func accept(_ now: Double) {
    // Few enough that each is read before it may have to make room for the next ones.
    for _ in 0..<min(64, max(1, context.limits.connections / 4)) where hasRoom {
      guard let (socket, address) = SocketAddress.accept(from: listener) else {
        // Without free descriptors, the listener would be ready again immediately.
        if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { acceptsAgain = now + 0.1 }
        return
      }
      Sockets.prepare(socket)
      Sockets.sendAtOnce(socket)
      while isFull && evict(waiting.firstToLeave(), .evicted, now) {}
      while context.addresses.isFull(address) && evict(waiting.firstToLeave(of: address), .evicted, now) {}
      add(socket, address, isExtra: isFull || context.addresses.isFull(address), now)
    }
  }

  private func add(_ socket: Int32, _ address: String, isExtra: Bool, _ now: Double) {
    if isExtra && extras >= context.limits.reserve && !evict(extraWaiting.firstToLeave(), .evicted, now) {
      close(socket)
      return
    }
    let session = context.security?.session(on: socket)
    if context.security != nil && session == nil { return _ = close(socket) }
    let connection = Connection(
      socket: socket, session: session, address: address, isExtra: isExtra, context, now: now)
    connections[connection.socket] = connection
    extras += connection.isExtra ? 1 : 0
    context.load.add(connections: 1)
    context.addresses.add(connection.address, connections: 1)
    settle(connection)
  }

  private func closeListener() {
    if listener < 0 { return }
    poller.remove(listener)
    close(listener)
    listener = -1
  }
}
