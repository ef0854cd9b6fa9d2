// ResponseWriter: serialises an answer as HTTP/1.1, and buffers its bytes for a socket.
import Foundation

/// How the end of a response body is marked.
enum BodyFraming: Equatable {
  case length(Int)
  case chunks
  case close  // by closing the connection: HTTP/1.0 has no chunks
}

/// The parts of a request that its answer depends on.
struct AnswerRules {
  var isHead = false
  var isVersion11 = true
  /// Whether the connection stays open afterwards.
  var keepsAlive = true
}

enum ResponseWriter {
  static let continues = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
  private static let maximumValue = 4096
  static let lastChunk = Array("0\r\n\r\n".utf8)

  /// Appends the status line and the headers. `Connection` is written here, according to `rules`.
  static func addHead(
    status: Int, headers: [HTTPHeader], framing: BodyFraming, _ rules: AnswerRules, to bytes: inout [UInt8]
  ) {
    var text = "HTTP/1.1 \(status) \(reason(status))\r\nDate: \(HTTPDate.now())\r\n"
    if !rules.keepsAlive || framing == .close {
      text += "Connection: close\r\n"
    } else if !rules.isVersion11 {
      text += "Connection: keep-alive\r\n"
    }
    for header in headers where !isConnection(header) { text += "\(header.name): \(clean(header.value))\r\n" }
    switch framing {
    case .length(let count): text += "Content-Length: \(count)\r\n"
    case .chunks: text += "Transfer-Encoding: chunked\r\n"
    case .close: break
    }
    bytes += text.utf8
    bytes += "\r\n".utf8
  }

  /// Adds a part of a body, which is not empty.
  static func add(_ text: String, framing: BodyFraming, to bytes: inout [UInt8]) {
    let part = text.utf8
    if framing == .chunks { bytes += "\(String(part.count, radix: 16))\r\n".utf8 }
    bytes += part
    if framing == .chunks { bytes += "\r\n".utf8 }
  }

  static func isConnection(_ header: HTTPHeader) -> Bool {
    header.name.utf8.count == 10 && header.name.lowercased() == "connection"
  }

  /// Ensures that no value, whatever its source, contains a line break or is longer than clients accept.
  private static func clean(_ value: String) -> String {
    let isPlain = value.utf8.count <= maximumValue && !value.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    return isPlain ? value : String(value.unicodeScalars.filter { $0 >= " " && $0 != "\u{7F}" }.prefix(maximumValue))
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 411: "Length Required"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 422: "Unprocessable Content"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 499: "Client Closed Request"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    default: "Status"
    }
  }
}

/// The time in HTTP format, computed once per second.
private enum HTTPDate {
  private static let lock = NSLock()
  nonisolated(unsafe) private static var made: (second: time_t, text: String) = (0, "")  // guarded by `lock`
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  static func now() -> String {
    var second = time(nil)
    return lock.withLock {
      if second == made.second { return made.text }
      var parts = tm()
      gmtime_r(&second, &parts)
      func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
      let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
      let day = "\(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(1900 + parts.tm_year)"
      made = (second, "\(days[Int(parts.tm_wday)]), \(day) \(clock) GMT")
      return made.text
    }
  }
}

/// Bytes waiting to be written to a socket.
struct SendBuffer {
  var bytes: [UInt8] = []
  private var sent = 0

  var isEmpty: Bool { bytes.isEmpty }

  /// Writes as much as the socket accepts now, and counts it; `.ended` if the peer has disconnected.
  mutating func send(to channel: ByteChannel) -> Sockets.Transfer {
    var total = 0
    while !isEmpty {
      let result = bytes.withUnsafeBytes { channel.send(.init(rebasing: $0[sent...])) }
      guard case .bytes(let count) = result else {
        if result == .ended { clear() }
        return result == .notNow && total > 0 ? .bytes(total) : result
      }
      (sent, total) = (sent + count, total + count)
      if sent == bytes.count { clear() }
    }
    return total > 0 ? .bytes(total) : .notNow
  }

  /// A large answer's memory is freed, a small one's is reused.
  private mutating func clear() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= 64 << 10)
    sent = 0
  }
}
