// UnixSocket: a socket in the file system to listen on.
import Foundation

enum UnixSocket {
  /// A file left behind by a server is replaced; one in use, or one that is not a socket, is not. This user may
  /// connect, and its group if the umask permits writing.
  static func listener(_ path: String) throws -> Int32 {
    if isAnswered(path) { throw ServerError("another program listens there") }
    var status = stat()
    if lstat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFSOCK else { throw ServerError("there is a file that is not a socket") }
      unlink(path)
    }
    let listener = socket(AF_UNIX, Sockets.stream, 0)
    Sockets.prepare(listener)
    let old = umask(0o777)
    umask(old | 0o007)
    let bound = try? withAddress(path) { bind(listener, $0, $1) }
    umask(old)
    guard bound != nil else {
      close(listener)
      throw ServerError("the path is longer than the system allows for a socket")
    }
    guard listener >= 0, bound == 0, listen(listener, 256) == 0 else {
      let reason = String(cString: strerror(errno))
      if listener >= 0 { close(listener) }
      throw ServerError(reason)
    }
    return listener
  }

  /// A connected socket, or nil.
  static func connect(_ path: String) -> Int32? {
    let client = socket(AF_UNIX, Sockets.stream, 0)
    if client < 0 { return nil }
    if (try? withAddress(path) { Foundation.connect(client, $0, $1) }) == 0 { return client }
    close(client)
    return nil
  }

  private static func isAnswered(_ path: String) -> Bool {
    guard let client = connect(path) else { return false }
    close(client)
    return true
  }

  private static func withAddress<Value>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
  ) throws -> Value {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
      throw ServerError("the path is too long")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}
