// GateClient: one client of the gate. Bytes are taken from a side only when the other has taken all that came before,
// so a slow reader stops the library, and a busy library the sender. Of the gate's thread.
import Foundation

final class GateClient {
  let socket: Int32
  let library: Int32  // our end of the pair whose other end the library has

  private let connection: Connection
  private let limits: HTTPLimits
  private var framing: RequestFraming
  private var inbound = SendBuffer()  // for the library: at most a piece and a head
  private var outbound = SendBuffer()  // for the client: at most a piece
  private var clientHasEnded = false
  private var libraryIsDeaf = false  // it is about to end, and reads no more
  private var libraryHasEnded = false
  private var waitingSince: Double  // for the rest of a head or body
  private var lastSent: Double
  private var lingering: (until: Double, bytes: Int)?

  init(socket: Int32, library: Int32, connection: Connection, limits: HTTPLimits) {
    self.socket = socket
    self.library = library
    self.connection = connection
    self.limits = limits
    framing = RequestFraming(maximumHead: limits.headerBytes, maximumBody: limits.mostBodyBytes)
    waitingSince = monotonicSeconds()
    lastSent = waitingSince
  }

  private var takesFromClient: Bool {
    if clientHasEnded { return false }
    return lingering != nil || (inbound.isEmpty && !libraryIsDeaf && !libraryHasEnded && framing.phase != .refused)
  }

  private var takesFromLibrary: Bool { !libraryHasEnded && outbound.isEmpty }

  /// What to wait for: two entries. The library's end is left out when nothing is wanted of it: that it has closed would be reported
  /// again and again.
  func addEntries(to entries: inout [pollfd]) {
    let client = (takesFromClient ? POLLIN : 0) | (outbound.isEmpty ? 0 : POLLOUT)
    let other = (takesFromLibrary ? POLLIN : 0) | (inbound.isEmpty ? 0 : POLLOUT)
    entries.append(pollfd(fd: socket, events: Int16(client), revents: 0))
    entries.append(pollfd(fd: other == 0 ? -1 : library, events: Int16(other), revents: 0))
  }

  /// Does what the results of waiting allow. False when there is nothing left to do.
  func step(_ client: Int16, _ other: Int16, now: Double, scratch: UnsafeMutableRawBufferPointer) -> Bool {
    let (readable, broken) = (Int16(POLLIN) | Int16(POLLHUP), Int16(POLLERR) | Int16(POLLNVAL))
    if client & broken != 0 || (client & Int16(POLLHUP) != 0 && !takesFromClient) { return false }
    if client & readable != 0 && takesFromClient { takeFromClient(now, scratch) }
    if other & (readable | broken) != 0 && takesFromLibrary { takeFromLibrary(scratch) }
    if inbound.send(to: library) == .ended { libraryIsDeaf = true }
    switch outbound.send(to: socket) {
    case .bytes: lastSent = now
    case .ended: return false
    case .notNow: if outbound.isEmpty { lastSent = now }
    }
    checkTime(now)
    return goesOn(now)
  }

  private func takeFromClient(_ now: Double, _ scratch: UnsafeMutableRawBufferPointer) {
    switch Sockets.receive(socket, into: scratch) {
    case .notNow: break
    case .bytes(let count):
      if lingering != nil {
        lingering?.bytes += count
        return
      }
      let before = (framing.phase, framing.requests)
      let error = framing.take(UnsafeRawBufferPointer(rebasing: scratch[..<count]), into: &inbound.bytes)
      if let error { connection.refuse(framing.requests, with: error) }
      // The time for the first head runs from connecting, whenever its first byte comes.
      if framing.requests > 0 && before != (framing.phase, framing.requests) { waitingSince = now }
    case .ended:
      clientHasEnded = true
      if lingering != nil { return }
      // Inside a request the library would hang up without a word.
      if framing.phase == .idle { _ = shutdown(library, Int32(SHUT_WR)) } else { refuse(.incomplete) }
    }
  }

  private func takeFromLibrary(_ scratch: UnsafeMutableRawBufferPointer) {
    switch Sockets.receive(library, into: scratch) {
    case .notNow: break
    case .bytes(let count): outbound.bytes += scratch[..<count]
    case .ended: libraryHasEnded = true
    }
  }

  /// The order matters: the library's thread must know before it can have read the end of the request.
  private func refuse(_ error: FramingError) {
    var end: [UInt8] = []
    framing.refuse(into: &end)
    connection.refuse(framing.requests, with: error)
    inbound.bytes += end
  }

  /// Only the client's own time counts, not what it waits for the library.
  private func checkTime(_ now: Double) {
    if !inbound.isEmpty { waitingSince = now }
    let waited = now - waitingSince
    switch framing.phase {
    case .idle, .refused: break  // between requests the library counts
    case .head: if waited > limits.headerSeconds { refuse(.timeout) }
    case .body:
      let allowed = limits.bodySeconds + Double(framing.bodyBytes) / Double(limits.bodyRate)
      if waited > allowed { refuse(.timeout) }
    }
  }

  private func goesOn(_ now: Double) -> Bool {
    // Who connects and says nothing, or lets an answer lie, is not told why.
    if framing.phase == .idle && framing.requests == 0 && now - waitingSince > limits.headerSeconds { return false }
    if now - lastSent > limits.idleSeconds && !outbound.isEmpty { return false }
    guard libraryHasEnded && outbound.isEmpty else { return true }
    // A socket closed with bytes of the client unread would take the answer back, so the rest is read for a while.
    if lingering == nil {
      _ = shutdown(socket, Int32(SHUT_WR))
      lingering = (now + limits.lingerSeconds, 0)
    }
    guard let lingering, !clientHasEnded else { return false }
    return now < lingering.until && lingering.bytes < limits.mostBodyBytes
  }

  /// Whether everything has been said.
  var hasSaidAll: Bool { lingering != nil }

  func close() {
    Foundation.close(socket)
    Foundation.close(library)
  }
}
