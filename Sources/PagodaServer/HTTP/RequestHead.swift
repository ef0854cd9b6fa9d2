// RequestHead: the request line and headers, checked as they arrive.

struct RequestHead {
  enum Body: Equatable {
    case none
    case fixed(Int)  // bytes, more than 0
    case chunked
  }

  /// `-` until the request line has arrived.
  private(set) var method = "-"
  private(set) var path = "-"  // decoded, without the query
  private(set) var query = ""  // undecoded
  private(set) var isVersion11 = true
  /// Names in lower case; without cookies, which nothing here reads.
  private(set) var headers: [HTTPHeader] = []
  /// The client waits for 100 before it sends the body.
  private(set) var expectsContinue = false
  /// Whether another request may follow on the connection.
  private(set) var keepsAlive = true

  private var authority: String?  // host of an absolute target; replaces the Host header
  private var headerCount = 0
  private var hosts = 0
  private var length: Int?  // a number beyond Int counts as Int.max
  private var isChunked = false

  /// `METHOD TARGET VERSION`.
  mutating func begin(_ line: ArraySlice<UInt8>) throws(FramingError) {
    let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard parts.count == 3, Self.isToken(parts[0]), !parts[1].contains(UInt8(ascii: "\t")) else {
      throw .malformed("the request line is not `METHOD PATH HTTP/1.1`")
    }
    if parts[1].count > RequestFraming.maximumTarget { throw .target }
    let path = try target(parts[1].prefix { $0 != UInt8(ascii: "?") })
    let version = Array(parts[2])
    guard version.count == 8, version.starts(with: "HTTP/".utf8), Self.isDigit(version[5]),
      version[6] == UInt8(ascii: "."), Self.isDigit(version[7])
    else { throw .malformed("the request line does not end with a version of HTTP") }
    isVersion11 = version[7] == UInt8(ascii: "1")
    guard version[5] == UInt8(ascii: "1"), isVersion11 || version[7] == UInt8(ascii: "0") else { throw .version }
    method = String(decoding: parts[0], as: UTF8.self)
    self.path = Self.decode(path)
    query = String(decoding: parts[1].drop { $0 != UInt8(ascii: "?") }.dropFirst(), as: UTF8.self)
    keepsAlive = isVersion11
  }

  /// The path of a target without its query: `/path`, or `http://host/path`, which proxies send.
  private mutating func target(_ text: ArraySlice<UInt8>) throws(FramingError) -> ArraySlice<UInt8> {
    if text.isEmpty { throw .malformed("the request line is not `METHOD PATH HTTP/1.1`") }
    let schemes = ["http://", "https://"].filter { scheme in
      text.count >= scheme.utf8.count && zip(text, scheme.utf8).allSatisfy { Self.lowered($0) == $1 }
    }
    guard let scheme = schemes.first else { return text }
    let rest = text.dropFirst(scheme.utf8.count)
    let host = rest.prefix { $0 != UInt8(ascii: "/") }
    if host.isEmpty || host.contains(UInt8(ascii: "@")) { throw .malformed("the requested address has no plain host") }
    authority = String(decoding: host, as: UTF8.self)
    return host.count == rest.count ? [UInt8(ascii: "/")] : rest.dropFirst(host.count)
  }

  mutating func add(_ line: ArraySlice<UInt8>) throws(FramingError) {
    let (name, bytes) = try parse(line)
    var value = String(decoding: bytes, as: UTF8.self)
    switch name {
    case "content-length":
      if length != nil { throw .malformed("the length of the body occurs twice") }
      guard !bytes.isEmpty, bytes.allSatisfy(Self.isDigit) else {
        throw .malformed("the Content-Length is not a number")
      }
      length = Int(value) ?? .max
    case "transfer-encoding":
      let codings = Self.list(value)
      if isChunked || codings.dropLast().contains("chunked") {
        throw .malformed("chunked must be the last Transfer-Encoding, once")
      }
      guard codings == ["chunked"] else { throw .coding }
      isChunked = true
    case "host":
      hosts += 1
      if let authority { value = authority }
    case "connection":
      let options = Self.list(value)
      keepsAlive = !options.contains("close") && (keepsAlive || options.contains("keep-alive"))
    case "expect": expectsContinue = value.lowercased() == "100-continue"
    case "cookie": return
    default: break
    }
    headers.append(HTTPHeader(name, value))
  }

  /// A header after the last chunk: checked and forgotten.
  mutating func addTrailer(_ line: ArraySlice<UInt8>) throws(FramingError) { _ = try parse(line) }

  /// The empty line: determines which body follows.
  mutating func end(maximumBody: Int) throws(FramingError) -> Body {
    if isVersion11 && hosts != 1 { throw .host }
    if isChunked && length != nil { throw .malformed("the length of the body occurs twice") }
    if isChunked && !isVersion11 { throw .malformed("HTTP/1.0 has no chunks") }
    if length ?? 0 > maximumBody { throw .bodyTooLarge }
    expectsContinue = expectsContinue && isVersion11
    if isChunked { return .chunked }
    guard let length, length > 0 else { return .none }
    return .fixed(length)
  }

  /// Name in lower case, and value without the space around it.
  private mutating func parse(_ line: ArraySlice<UInt8>) throws(FramingError) -> (String, ArraySlice<UInt8>) {
    headerCount += 1
    if headerCount > RequestFraming.maximumHeaders { throw .headers }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), Self.isToken(line[..<colon]) else {
      throw .malformed("a header is not `NAME: VALUE` in one line")
    }
    var value = line[(colon + 1)...].drop(while: Self.isSpace)
    while let last = value.last, Self.isSpace(last) { value.removeLast() }
    return (String(decoding: line[..<colon].map(Self.lowered), as: UTF8.self), value)
  }
}

extension RequestHead {
  /// The size in a chunk header, `HEX` or `HEX;extension`.
  static func chunkSize(_ line: ArraySlice<UInt8>, maximum: Int) throws(FramingError) -> Int {
    let digits = String(decoding: line.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
    guard !digits.isEmpty, digits.utf8.allSatisfy({ hexValue($0) != nil }) else {
      throw .malformed("the size of a chunk is not a hexadecimal number")
    }
    guard let size = Int(digits, radix: 16), size <= maximum else { throw .bodyTooLarge }
    return size
  }

  /// `%41` is `A`; a percent sign before anything else is literal.
  static func decode(_ path: ArraySlice<UInt8>) -> String {
    guard path.contains(UInt8(ascii: "%")) else { return String(decoding: path, as: UTF8.self) }
    var bytes: [UInt8] = []
    var index = path.startIndex
    while index < path.endIndex {
      if path[index] == UInt8(ascii: "%"), index + 2 < path.endIndex, let high = hexValue(path[index + 1]),
        let low = hexValue(path[index + 2])
      {
        bytes.append(high << 4 | low)
        index += 3
      } else {
        bytes.append(path[index])
        index += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The elements of a header that contains a list, in lower case.
  private static func list(_ value: String) -> [Substring] {
    value.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
  }

  private static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
  }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
