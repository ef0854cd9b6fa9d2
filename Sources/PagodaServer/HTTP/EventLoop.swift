// EventLoop: the thread that accepts clients, waits for all of them at once, and lets each do what it can.
import Foundation

final class EventLoop: @unchecked Sendable {
  /// Shortest time between two looks at all deadlines.
  private static let tick = 0.02

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
  private var waiting = WaitingClients()  // of those that are not extra
  private var extraWaiting = WaitingClients()
  private var extras = 0
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
      if connection.waiting?.part == .body || hasTooManyBytes { boundBodies(of: connection.address, now) }
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
    return monotonicSeconds() >= stopTime || connections.values.allSatisfy(\.hasSaidAll)
  }

  // MARK: Making room

  /// Keeps the lists of those that may have to make room.
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

  /// Unfinished bodies have bounds in number, for one address and for all, and in bytes together with whole ones. Beyond
  /// them the slowest is given up, whichever came last: it is the one that keeps the others waiting.
  private func boundBodies(of address: String, _ now: Double) {
    while waiting.bodies(of: address) > context.addresses.mostBodies(address),
      giveUp(waiting.slowestBody(of: address), .room, now)
    {}
    while waiting.bodies > context.limits.unfinishedBodies, giveUp(waiting.slowestBody(), .room, now) {}
    while hasTooManyBytes, giveUp(waiting.slowestWithBytes(), .bodies, now) {}
  }

  private var hasTooManyBytes: Bool { context.load.bodyBytes > context.limits.allBodyBytes }

  /// False when there is none.
  private func giveUp(_ socket: Int32?, _ error: FramingError, _ now: Double) -> Bool {
    guard let socket, let connection = connections[socket] else { return false }
    connection.giveUp(error, now)
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

  /// When the server is full, idle clients make room for new ones, and then those whose requests are not whole. When all
  /// have whole requests, a few extra ones are let in, to be told so, and to be told how the server is.
  private func accept(_ now: Double) {
    // Few enough that each is read from before it may have to make room for the next ones.
    for _ in 0..<min(64, max(1, context.limits.connections / 4)) where hasRoom {
      guard let (socket, address) = SocketAddress.accept(from: listener) else {
        // Out of descriptors, the listener would be ready again at once.
        if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { acceptsAgain = now + 0.1 }
        return
      }
      Sockets.prepare(socket)
      Sockets.sendAtOnce(socket)
      while isFull && giveUp(waiting.firstToLeave(), .room, now) {}
      while context.addresses.isFull(address) && giveUp(waiting.firstToLeave(of: address), .room, now) {}
      add(socket, address, isExtra: isFull || context.addresses.isFull(address), now)
    }
  }

  private func add(_ socket: Int32, _ address: String, isExtra: Bool, _ now: Double) {
    if isExtra && extras >= context.limits.reserve && !giveUp(extraWaiting.firstToLeave(), .room, now) {
      close(socket)
      return
    }
    let connection = Connection(socket: socket, address: address, isExtra: isExtra, context, now: now)
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
