// ServiceManager: tells systemd (Type=notify) that the service is ready or stopping, through the socket in NOTIFY_SOCKET.
import Foundation

enum ServiceManager {
  /// Sends a state such as `READY=1`; does nothing if no service manager waits for it.
  static func notify(_ state: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
    guard let path = environment["NOTIFY_SOCKET"], !path.isEmpty else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(path.utf8)
    if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }  // a name of Linux' abstract namespace
    let isLong = withUnsafeMutableBytes(of: &address.sun_path) { room in
      if bytes.count >= room.count { return true }
      room.copyBytes(from: bytes)
      return false
    }
    if isLong { return }
    #if os(Linux)
    let kind = Int32(SOCK_DGRAM.rawValue)
    #else
    let kind = SOCK_DGRAM
    #endif
    let socket = socket(AF_UNIX, kind, 0)
    guard socket >= 0 else { return }
    defer { close(socket) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = sendto(socket, state, state.utf8.count, 0, $0, length)
      }
    }
  }
}
