// Sockets: the calls that differ between systems, for sockets that never block and never raise a signal.
import Foundation

enum Sockets {
  #if os(Linux)
  static let stream = Int32(SOCK_STREAM.rawValue)
  #else
  static let stream = SOCK_STREAM
  #endif

  /// Makes a socket non-blocking, without SIGPIPE, and not inherited by child processes.
  static func prepare(_ socket: Int32) {
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
    #if !os(Linux)
    set(socket, level: SOL_SOCKET, option: SO_NOSIGPIPE)
    #endif
  }

  /// Disables Nagle's algorithm.
  static func sendAtOnce(_ socket: Int32) { set(socket, level: Int32(IPPROTO_TCP), option: TCP_NODELAY) }

  /// A connected pair, prepared as above; nil if there are no more descriptors.
  static func pair() -> (Int32, Int32)? {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, stream, 0, &ends) == 0 else { return nil }
    ends.forEach(prepare)
    return (ends[0], ends[1])
  }

  /// Raises the process's descriptor limit to this number, as far as the system allows.
  static func raiseDescriptorLimit(to count: Int) {
    var limit = rlimit()
    #if os(Linux)
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    let resource = RLIMIT_NOFILE
    #endif
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(count) else { return }
    limit.rlim_cur = min(limit.rlim_max, rlim_t(count))
    setrlimit(resource, &limit)
  }

  enum Transfer: Equatable {
    case bytes(Int)
    case notNow
    case ended  // by the other side, properly or not
  }

  static func receive(_ socket: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    transfer(recv(socket, buffer.baseAddress, buffer.count, 0))
  }

  static func send(_ socket: Int32, _ bytes: UnsafeRawBufferPointer) -> Transfer {
    #if os(Linux)
    let flags = Int32(MSG_NOSIGNAL)
    #else
    let flags: Int32 = 0
    #endif
    return transfer(Foundation.send(socket, bytes.baseAddress, bytes.count, flags))
  }

  private static func transfer(_ count: Int) -> Transfer {
    if count > 0 { return .bytes(count) }
    return count < 0 && [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) ? .notNow : .ended
  }

  private static func set(_ socket: Int32, level: Int32, option: Int32) {
    var yes: Int32 = 1
    setsockopt(socket, level, option, &yes, socklen_t(MemoryLayout<Int32>.size))
  }
}
