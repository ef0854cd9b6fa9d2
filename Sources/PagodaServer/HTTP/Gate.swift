// Gate: the listening socket, and a thread between the clients and libmicrohttpd, which answers broken requests with
// pages of its own, sometimes twice or not at all, and cannot be told otherwise. It gets one end of a socket pair for
// each client and sees only requests that are whole (RequestFraming).
// The gate itself says nothing to clients: what is broken is replaced by a request that the library answers with our
// error, so that answers keep their order when requests are sent ahead, and are counted and logged like all others.
import Foundation

final class Gate: @unchecked Sendable {
  /// Hands a socket, with the client's address, to the library, which owns it from here on; nil if it cannot take it.
  typealias Admit = @Sendable (Int32, UnsafePointer<sockaddr>, socklen_t) -> Connection?

  private let limits: HTTPLimits
  private let admit: Admit
  private let wakeUp: (read: Int32, write: Int32)
  private let ended = DispatchSemaphore(value: 0)

  private let lock = NSLock()
  // Guarded by `lock`.
  private var isAccepting = true
  private var stopTime: Double?  // when clients that do not read the rest are disconnected

  // Of the thread.
  private var listener: Int32
  private var clients: [GateClient] = []
  private var acceptsAgain = 0.0  // later than now while there are no descriptors

  /// Owns the listener, unless it throws.
  init(listener: Int32, limits: HTTPLimits, admit: @escaping Admit) throws {
    guard let pair = Sockets.pair() else { throw ServerError(String(cString: strerror(errno))) }
    wakeUp = pair
    self.listener = listener
    self.limits = limits
    self.admit = admit
  }

  deinit {
    close(wakeUp.read)
    close(wakeUp.write)
    if listener >= 0 { close(listener) }
  }

  func start() {
    let thread = Thread { [self] in
      run()
      ended.signal()
    }
    thread.name = "pagoda-http-gate"
    thread.start()
  }

  /// When this returns the library gets no more connections.
  func stopAccepting() {
    lock.withLock { isAccepting = false }
    wake()
  }

  /// Ends the thread, once; the library has ended before. Clients get half a second to take what is theirs.
  func stop() {
    lock.withLock {
      isAccepting = false
      stopTime = monotonicSeconds() + 0.5
    }
    wake()
    ended.wait()
  }

  private func wake() {
    var byte: UInt8 = 0
    withUnsafeBytes(of: &byte) { _ = Sockets.send(wakeUp.write, $0) }
  }

  private func run() {
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
    defer { scratch.deallocate() }
    while true {
      let entries = wait()
      let now = monotonicSeconds()
      if entries[0].revents != 0 { _ = Sockets.receive(wakeUp.read, into: scratch) }
      let (accepting, stopTime) = lock.withLock { (isAccepting, self.stopTime) }  // what it was woken for
      if !accepting { closeListener() }
      step(entries[2...], now, scratch)
      if entries[1].revents != 0 { accept(now) }
      guard let stopTime else { continue }
      if now > stopTime || clients.allSatisfy(\.hasSaidAll) { break }
    }
    clients.forEach { $0.close() }
    clients = []
  }

  /// Waits for something to do, a tenth of a second at most while there are clients, whose time is looked at then. poll
  /// is enough for hundreds of clients, and is everywhere.
  private func wait() -> [pollfd] {
    let accepts = clients.count < limits.connections && monotonicSeconds() >= acceptsAgain
    var entries = [
      pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0),
      pollfd(fd: accepts ? listener : -1, events: Int16(POLLIN), revents: 0),
    ]
    for client in clients { client.addEntries(to: &entries) }
    if poll(&entries, nfds_t(entries.count), clients.isEmpty && accepts ? -1 : 100) < 0 {
      for index in entries.indices { entries[index].revents = 0 }
    }
    return entries
  }

  private func step(_ entries: ArraySlice<pollfd>, _ now: Double, _ scratch: UnsafeMutableRawBufferPointer) {
    var index = entries.startIndex
    clients.removeAll { client in
      defer { index += 2 }
      let goesOn = client.step(entries[index].revents, entries[index + 1].revents, now: now, scratch: scratch)
      if !goesOn { client.close() }
      return !goesOn
    }
  }

  private func accept(_ now: Double) {
    lock.withLock {
      while isAccepting && clients.count < limits.connections {
        guard let client = acceptOne() else {
          // Out of descriptors, the listener would be ready again at once.
          if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { acceptsAgain = now + 0.1 }
          return
        }
        clients.append(client)
      }
    }
  }

  /// Nil with the reason in errno.
  private func acceptOne() -> GateClient? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        let socket = Foundation.accept(listener, address, &length)
        if socket < 0 { return nil }
        if let client = client(on: socket, address, length) { return client }
        let reason = errno
        close(socket)
        errno = reason
        return nil
      }
    }
  }

  private func client(on socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> GateClient? {
    Sockets.prepare(socket)
    Sockets.sendAtOnce(socket)
    guard let (ours, theirs) = Sockets.pair() else { return nil }
    guard let connection = admit(theirs, address, length) else {
      let reason = errno
      close(ours)
      errno = reason
      return nil
    }
    return GateClient(socket: socket, library: ours, connection: connection, limits: limits)
  }

  private func closeListener() {
    if listener >= 0 { close(listener) }
    listener = -1
  }
}
