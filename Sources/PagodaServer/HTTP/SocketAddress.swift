// SocketAddress: a host and port for the socket calls.
import Foundation

struct SocketAddress {
  private var storage: sockaddr_storage
  let family: Int32
  let length: socklen_t

  /// Names and numbers of either family; throws with the resolver's reason.
  static func resolve(host: String, port: UInt16) throws -> SocketAddress {
    var hints = addrinfo()
    hints.ai_socktype = Sockets.stream
    var list: UnsafeMutablePointer<addrinfo>?
    let name = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    let code = getaddrinfo(name, String(port), &hints, &list)
    guard code == 0, let first = list, let address = first.pointee.ai_addr else {
      throw ServerError("\(host) is not an address: \(String(cString: gai_strerror(code)))")
    }
    defer { freeaddrinfo(list) }
    var storage = sockaddr_storage()
    memcpy(&storage, address, Int(first.pointee.ai_addrlen))
    return SocketAddress(storage: storage, family: first.pointee.ai_family, length: first.pointee.ai_addrlen)
  }

  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>) throws -> Result) rethrows -> Result {
    try withUnsafePointer(to: storage) {
      try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body($0) }
    }
  }

  /// A socket that listens there. Not SO_REUSEPORT, with which two servers would share a port and its requests.
  func listener() throws -> Int32 {
    let listener = socket(family, Sockets.stream, 0)
    Sockets.prepare(listener)
    var yes: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard listener >= 0, withPointer({ bind(listener, $0, length) }) == 0, listen(listener, 256) == 0 else {
      let reason = String(cString: strerror(errno))
      if listener >= 0 { close(listener) }
      throw ServerError(reason)
    }
    return listener
  }

  /// A client that waits, and its address without the port; nil with the reason in errno.
  static func accept(from listener: Int32) -> (socket: Int32, address: String)? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        let socket = Foundation.accept(listener, pointer, &length)
        return socket < 0 ? nil : (socket, numbers(of: pointer, length))
      }
    }
  }

  /// `127.0.0.1` or `::1`; empty for a socket in the file system.
  private static func numbers(of address: UnsafePointer<sockaddr>, _ length: socklen_t) -> String {
    var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let family = Int32(address.pointee.sa_family)
    guard family == AF_INET || family == AF_INET6,
      getnameinfo(address, length, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0
    else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The port that a socket is bound to.
  static func port(of socket: Int32) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let status = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
    }
    guard status == 0 else { return 0 }
    // Both families store the port at offset 2.
    return withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) }
  }

  /// Whether only this machine can reach it.
  var isLoopback: Bool {
    withPointer { address in
      if family == AF_INET {
        return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          UInt32(bigEndian: $0.pointee.sin_addr.s_addr) >> 24 == 127
        }
      }
      return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        withUnsafeBytes(of: $0.pointee.sin6_addr) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
      }
    }
  }
}
