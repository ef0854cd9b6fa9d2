// RequestHead: the request line and headers as they come, checked, and what libmicrohttpd gets to see of them.

struct RequestHead {
  enum Body: Equatable {
    case none
    case fixed(Int)  // bytes, more than 0
    case chunked
  }

  /// What is given on; complete after `end`.
  private(set) var text: [UInt8] = []

  private var requestLine: [UInt8] = []
  private var isVersion11 = true
  private var headers = 0
  private var hosts = 0
  private var length: Int?  // a number beyond Int counts as Int.max
  private var isChunked = false

  /// A whole request in place of one that is broken; who reads the log sees what was asked, if that came through.
  var substitute: [UInt8] {
    let line = requestLine.isEmpty ? Array("- - HTTP/1.1\r\n".utf8) : requestLine
    return line + Array("Host: localhost\r\nConnection: close\r\n\r\n".utf8)
  }

  /// `METHOD TARGET VERSION`. The query is left out: no route reads it, and libmicrohttpd would take memory for each of
  /// its arguments until it has none.
  mutating func begin(_ line: ArraySlice<UInt8>) throws {
    let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    let path: ArraySlice<UInt8> = parts.count == 3 ? parts[1].prefix { $0 != UInt8(ascii: "?") } : []
    guard Self.isToken(parts[0]), !path.isEmpty, !parts[1].contains(UInt8(ascii: "\t")) else {
      throw FramingError.malformed("the request line is not `METHOD PATH HTTP/1.1`")
    }
    if parts[1].count > RequestFraming.maximumTarget { throw FramingError.target }
    let version = Array(parts[2])
    guard version.count == 8, version.starts(with: "HTTP/".utf8), Self.isDigit(version[5]),
      version[6] == UInt8(ascii: "."), Self.isDigit(version[7])
    else { throw FramingError.malformed("the request line does not end with a version of HTTP") }
    isVersion11 = version[7] == UInt8(ascii: "1")
    guard version[5] == UInt8(ascii: "1"), isVersion11 || version[7] == UInt8(ascii: "0") else {
      throw FramingError.version
    }
    requestLine = Array([parts[0], path, parts[2]].joined(separator: " ".utf8)) + "\r\n".utf8
    text = requestLine
  }

  /// A header. Those that frame the body are kept for `end`; cookies, like the query, would take the library's memory.
  mutating func add(_ line: ArraySlice<UInt8>) throws {
    let (name, value) = try parse(line)
    switch String(decoding: name, as: UTF8.self).lowercased() {
    case "content-length":
      if length != nil { throw FramingError.malformed("the length of the body is given twice") }
      guard !value.isEmpty, value.allSatisfy(Self.isDigit) else {
        throw FramingError.malformed("the Content-Length is not a number")
      }
      length = Int(String(decoding: value, as: UTF8.self)) ?? .max
    case "transfer-encoding":
      let codings = String(decoding: value, as: UTF8.self).lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
      if isChunked || codings.dropLast().contains("chunked") {
        throw FramingError.malformed("chunked must be the last Transfer-Encoding, once")
      }
      guard codings == ["chunked"] else { throw FramingError.coding }
      isChunked = true
    case "cookie": break
    default:
      if name.elementsEqual("host".utf8, by: { $0 | 0x20 == $1 }) { hosts += 1 }
      text += name + ": ".utf8 + value + "\r\n".utf8
    }
  }

  /// A header after the last chunk: checked and forgotten.
  mutating func addTrailer(_ line: ArraySlice<UInt8>) throws { _ = try parse(line) }

  /// The empty line: completes `text` and says what body follows.
  mutating func end(maximumBody: Int) throws -> Body {
    if isVersion11 && hosts != 1 { throw FramingError.host }
    if isChunked && length != nil { throw FramingError.malformed("the length of the body is given twice") }
    if isChunked && !isVersion11 { throw FramingError.malformed("HTTP/1.0 has no chunks") }
    if length ?? 0 > maximumBody { throw FramingError.bodyTooLarge }
    let body: Body = isChunked ? .chunked : length.map { $0 == 0 ? .none : .fixed($0) } ?? .none
    if body != .none { text += "Transfer-Encoding: chunked\r\n".utf8 }
    if length == 0 { text += "Content-Length: 0\r\n".utf8 }
    text += "\r\n".utf8
    return body
  }

  /// Name and value without the space around it.
  private mutating func parse(_ line: ArraySlice<UInt8>) throws -> (ArraySlice<UInt8>, ArraySlice<UInt8>) {
    headers += 1
    if headers > RequestFraming.maximumHeaders { throw FramingError.headers }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), Self.isToken(line[..<colon]) else {
      throw FramingError.malformed("a header is not `NAME: VALUE` in one line")
    }
    var value = line[(colon + 1)...].drop(while: Self.isSpace)
    while let last = value.last, Self.isSpace(last) { value.removeLast() }
    return (line[..<colon], value)
  }

  /// Of `HEX` or `HEX;extension`.
  static func chunkSize(_ line: ArraySlice<UInt8>, maximum: Int) throws -> Int {
    let digits = String(decoding: line.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
    guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
      throw FramingError.malformed("the size of a chunk is not a hexadecimal number")
    }
    guard let size = Int(digits, radix: 16), size <= maximum else { throw FramingError.bodyTooLarge }
    return size
  }

  private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
