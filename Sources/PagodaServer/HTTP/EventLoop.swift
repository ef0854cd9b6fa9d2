// EventLoop: the thread that accepts clients, waits for all of them at once, and lets each do what it can.
import Foundation

final class EventLoop: @unchecked Sendable {
  /// Shortest time between two looks at all deadlines.
  private static let tick = 0.02
  private static let acceptsPerTurn = 64
  /// Silence after which a client that has not sent all of a body may have to make room.
  private static let stall = 0.1

  private let context: ConnectionContext
  private let poller: any Poller
  private let ended = DispatchSemaphore(value: 0)

  private let lock = NSLock()
  // Guarded by `lock`.
  private var isAccepting = true
  private var lastWords: HTTPResponse?

  // Of the thread.
  private var listener: Int32
  private var connections: [Int32: Connection] = [:]  // by socket
  private var nextLook = Double.infinity  // at the deadlines
  private var acceptsAgain = 0.0  // later than now while there are no descriptors
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

  /// No new connections from now on.
  func stopAccepting() {
    lock.withLock { isAccepting = false }
    context.mailbox.wake()
  }

  /// Ends the thread, once. What is still going on is cut; clients get half a second to take what is theirs.
  func stop(cutWith response: HTTPResponse) {
    lock.withLock {
      isAccepting = false
      lastWords = response
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

  /// Sockets first: a short request is answered before the streams get their turn. New clients last: what was found out
  /// before about the socket of a client that has gone must not be taken for theirs.
  private func turn(_ ready: [Readiness], _ now: Double, _ scratch: UnsafeMutableRawBufferPointer) {
    for entry in ready {
      guard let connection = connections[entry.socket] else { continue }
      connection.handle(entry, now: now, scratch: scratch)
      settle(connection)
    }
    for connection in context.mailbox.take() where connections[connection.socket] === connection {
      connection.advance(now)
      settle(connection)
    }
    let (accepting, lastWords) = lock.withLock { (isAccepting, self.lastWords) }
    if !accepting { closeListener() }
    if let lastWords, stopTime == nil { stop(with: lastWords, now) }
    if now >= nextLook { expire(now) }
    if listener >= 0, ready.contains(where: { $0.socket == listener }) { accept(now) }
  }

  /// After a connection has done something.
  private func settle(_ connection: Connection) {
    if connection.stage == .closed {
      poller.remove(connection.socket)
      close(connection.socket)
      connections[connection.socket] = nil
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
    return monotonicSeconds() >= stopTime || connections.values.allSatisfy(\.hasSaidAll)
  }

  // MARK: The listener

  private func watchListener() {
    if listener < 0 { return }
    let now = monotonicSeconds()
    let hasRoom = connections.count < mostConnections || oldest(now, where: { _ in true }) != nil
    let accepts = hasRoom && now >= acceptsAgain
    poller.set(listener, accepts ? .read : [])
    if !hasRoom { nextLook = min(nextLook, now + Self.stall) }  // a client may have stalled by then
    if acceptsAgain > now { nextLook = min(nextLook, acceptsAgain) }
  }

  private var mostConnections: Int { context.limits.connections + context.limits.reserve }

  /// When the server is full, idle clients make room for new ones, and then those whose bodies do not come. When all have
  /// requests, a few more are let in, to be
  /// told so, and to be told how the server is.
  private func accept(_ now: Double) {
    for _ in 0..<Self.acceptsPerTurn {
      if connections.count >= mostConnections && !evict(now, where: { _ in true }) { return }
      guard let (socket, address) = SocketAddress.accept(from: listener) else {
        // Out of descriptors, the listener would be ready again at once.
        if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { acceptsAgain = now + 0.1 }
        return
      }
      Sockets.prepare(socket)
      Sockets.sendAtOnce(socket)
      while connections.count >= context.limits.connections && evict(now, where: { _ in true }) {}
      let isFull = connections.count >= context.limits.connections
      while context.addresses.isFull(address) && evict(now, where: { $0.address == address }) {}
      let isTooMany = context.addresses.isFull(address)
      let connection = Connection(socket: socket, address: address, isExtra: isFull || isTooMany, context, now: now)
      connections[socket] = connection
      context.load.add(connections: 1)
      context.addresses.add(address, connections: 1)
      settle(connection)
    }
  }

  /// Closes the connection that has been idle for longest, or else has kept its request waiting; false when none does.
  private func evict(_ now: Double, where isMeant: (Connection) -> Bool) -> Bool {
    guard let oldest = oldest(now, where: isMeant) else { return false }
    oldest.close()
    settle(oldest)
    return true
  }

  private func oldest(_ now: Double, where isMeant: (Connection) -> Bool) -> Connection? {
    var idle: (connection: Connection, since: Double)?
    var stalled: (connection: Connection, since: Double)?
    for connection in connections.values where isMeant(connection) {
      if let since = connection.idleSince, since < idle?.since ?? .infinity { idle = (connection, since) }
      if let since = connection.stalledSince, now - since >= Self.stall, since < stalled?.since ?? .infinity {
        stalled = (connection, since)
      }
    }
    return idle?.connection ?? stalled?.connection
  }

  private func closeListener() {
    if listener < 0 { return }
    poller.remove(listener)
    close(listener)
    listener = -1
  }
}
