// HTTPClient: a plain client for the load generator and for tests. One connection, one thread, `http` only.
import Foundation

/// A connection to a server. Not thread-safe.
package final class HTTPClient {
  package struct Response {
    package var status: Int
    package var headers: [String: String]  // names in lower case
    package var body: [UInt8]

    package var text: String { String(decoding: body, as: UTF8.self) }
  }

  private let socket: Int32
  private var buffer: [UInt8] = []
  private var start = 0  // start of the data not yet taken from `buffer`

  package init(host: String, port: UInt16, timeout: Double = 600) throws {
    let address = try SocketAddress.resolve(host: host, port: port)
    socket = Foundation.socket(address.family, Sockets.stream, 0)
    var time = timeval(tv_sec: Int(timeout), tv_usec: .init((timeout - timeout.rounded(.down)) * 1e6))
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, size)
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, size)
    if let reason = Self.connect(socket, to: address, timeout: timeout) {
      Foundation.close(socket)
      throw ServerError("cannot connect to \(host) port \(port): \(reason)")
    }
  }

  /// Returns why it failed. Some systems' `connect` ignores the timeout of a socket.
  private static func connect(_ socket: Int32, to address: SocketAddress, timeout: Double) -> String? {
    let flags = fcntl(socket, F_GETFL)
    _ = fcntl(socket, F_SETFL, flags | O_NONBLOCK)
    defer { _ = fcntl(socket, F_SETFL, flags) }
    if address.withPointer({ Foundation.connect(socket, $0, address.length) }) == 0 { return nil }
    if errno != EINPROGRESS { return String(cString: strerror(errno)) }
    var wait = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
    if poll(&wait, 1, Int32(min(timeout * 1000, 86_400_000))) <= 0 { return "no answer" }
    var error: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size)
    return error == 0 ? nil : String(cString: strerror(error))
  }

  /// Connects to a server that listens on a path.
  package init(unix path: String) throws {
    guard let socket = UnixSocket.connect(path) else { throw ServerError("cannot connect to \(path)") }
    self.socket = socket
  }

  deinit { Foundation.close(socket) }

  /// Ends the connection for both sides, also for a thread that waits on it.
  package func close() { _ = shutdown(socket, Int32(SHUT_RDWR)) }

  /// Signals that nothing more will be sent.
  package func closeWriting() { _ = shutdown(socket, Int32(SHUT_WR)) }

  package func send(_ text: String) throws { try send(Array(text.utf8)) }

  package func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      #if os(Linux)
      let flags = Int32(MSG_NOSIGNAL)
      #else
      let flags: Int32 = 0
      #endif
      let count = bytes[sent...].withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, flags) }
      if count <= 0 { throw ServerError("the connection broke while sending") }
      sent += count
    }
  }

  /// Sends a request with a JSON body, or none.
  package func request(
    _ method: String, _ path: String, host: String = "localhost", headers: [String: String] = [:], body: String? = nil
  ) throws {
    var all = headers
    if let body {
      all["Content-Length"] = String(body.utf8.count)
      all["Content-Type"] = all["Content-Type"] ?? "application/json"
    }
    let lines = all.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
    try send("\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\(lines)\r\n\(body ?? "")")
  }

  /// Reads a response; `onData` receives chunks of the body as they arrive, before they are part of the result. An
  /// endless body should not be kept.
  package func response(
    isHead: Bool = false, keepsBody: Bool = true, onData: (ArraySlice<UInt8>) throws -> Void = { _ in }
  ) throws -> Response {
    let status = try line().split(separator: " ")
    guard status.count >= 2, let code = Int(status[1]) else { throw ServerError("the answer is not HTTP") }
    var headers: [String: String] = [:]
    while case let line = try line(), !line.isEmpty {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
    }
    if code == 100 { return try response(isHead: isHead, keepsBody: keepsBody, onData: onData) }
    var body: [UInt8] = []
    func take(_ count: Int) throws {
      var left = count
      while left > 0 {
        if start == buffer.count, try !fill() { throw ServerError("the connection ended inside the body") }
        let chunk = buffer[start..<min(buffer.count, start + left)]
        try onData(chunk)
        if keepsBody { body += chunk }
        start += chunk.count
        left -= chunk.count
      }
    }
    if isHead {
      // the length is that of the body that GET would have
    } else if headers["transfer-encoding"]?.lowercased() == "chunked" {
      while let size = Int(try line().split(separator: ";").first.map(String.init) ?? "", radix: 16), size > 0 {
        try take(size)
        _ = try line()
      }
      while try !line().isEmpty {}
    } else {
      try take(headers["content-length"].flatMap { Int($0) } ?? 0)
    }
    return Response(status: code, headers: headers, body: body)
  }

  private func fill() throws -> Bool {
    buffer.removeFirst(start)
    start = 0
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    let count = recv(socket, &bytes, bytes.count, 0)
    if count < 0 { throw ServerError("the connection broke: \(String(cString: strerror(errno)))") }
    buffer += bytes[..<count]
    return count > 0
  }

  private func line() throws -> String {
    while true {
      if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: buffer[start..<end], as: UTF8.self)
        start = end + 1
        return line.replacing("\r", with: "")
      }
      if try !fill() { throw ServerError("the connection ended") }
    }
  }
}
