// TransportSecurity: what the event loop needs of TLS. The target PagodaTLS has it, so that other programs do not link OpenSSL.

/// Certificates for the connections of a server.
package protocol TransportSecurity: AnyObject, Sendable {
  /// The server's side of a session on a socket that does not block and stays the caller's; nil without memory.
  func session(on socket: Int32) -> (any SecureSession)?
}

package enum SecureTransfer: Equatable {
  case bytes(Int)
  case wantsRead  // call again when the socket can be read
  case wantsWrite  // call again when the socket can be written
  case ended  // by the other side, properly or not
}

/// One client's session. Used by the event loop only.
package protocol SecureSession: AnyObject {
  func receive(into buffer: UnsafeMutableRawBufferPointer) -> SecureTransfer
  func send(_ bytes: UnsafeRawBufferPointer) -> SecureTransfer
  /// Whether bytes have been received that the socket no longer shows.
  var hasPending: Bool { get }
  /// Tells the client that nothing more will be sent.
  func finish()
}

/// The bytes of a connection: those of its socket, or of the session on it.
struct ByteChannel {
  let socket: Int32
  private let session: (any SecureSession)?
  private(set) var waitsForWriting = false  // before more can be received

  init(socket: Int32, session: (any SecureSession)? = nil) {
    self.socket = socket
    self.session = session
  }

  var hasPending: Bool { session?.hasPending ?? false }

  mutating func receive(into buffer: UnsafeMutableRawBufferPointer) -> Sockets.Transfer {
    guard let session else { return Sockets.receive(socket, into: buffer) }
    let result = session.receive(into: buffer)
    waitsForWriting = result == .wantsWrite
    return Self.plain(result)
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> Sockets.Transfer {
    session.map { Self.plain($0.send(bytes)) } ?? Sockets.send(socket, bytes)
  }

  func finish() { session?.finish() }

  private static func plain(_ result: SecureTransfer) -> Sockets.Transfer {
    switch result {
    case .bytes(let count): .bytes(count)
    case .wantsRead, .wantsWrite: .notNow
    case .ended: .ended
    }
  }
}
