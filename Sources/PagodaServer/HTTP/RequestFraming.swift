// RequestFraming: where requests begin and end in the bytes of a client, and what is wrong with them. No IO.

/// Takes what a client sends in pieces of any size and gives it on in one dialect: lines that end with CRLF, a body only
/// in whole chunks, no query, no cookies, no trailers, which nothing here reads. So libmicrohttpd finds no fault, and a
/// request can be ended at any time: one that is broken becomes a whole one, to be answered with the error.
struct RequestFraming {
  static let maximumHeaders = 100
  static let maximumTarget = 8000
  static let maximumLine = 8192 + 4  // name and value of a header, the colon, a space, CRLF
  private static let maximumMethod = 32
  private static let maximumChunkLine = 256
  private static let lastChunk = Array("0\r\n\r\n".utf8)

  enum Phase {
    case idle  // between requests
    case head
    case body
    case refused  // nothing that follows has a meaning
  }

  private enum State {
    case requestLine
    case headerLines
    case fixedBody(left: Int)
    case chunkSize
    case chunk(left: Int)
    case chunkEnd
    case trailers
    case refused
  }

  /// Requests given on so far, the refused one and the one whose body is on its way among them.
  private(set) var requests = 0
  /// Of the present request.
  private(set) var bodyBytes = 0

  private let maximumHead: Int
  private let maximumBody: Int
  private var state = State.requestLine
  private var line: [UInt8] = []  // what has come of it, with its end
  private var head = RequestHead()
  private var headBytes = 0  // as sent, trailers included

  init(maximumHead: Int, maximumBody: Int) {
    self.maximumHead = maximumHead
    self.maximumBody = maximumBody
  }

  var phase: Phase {
    switch state {
    case .requestLine: line.isEmpty ? .idle : .head
    case .headerLines: .head
    case .fixedBody, .chunkSize, .chunk, .chunkEnd, .trailers: .body
    case .refused: .refused
    }
  }

  /// Adds to `output` what may be given on. The first error is the last word; `output` then ends the request.
  mutating func take(_ bytes: UnsafeRawBufferPointer, into output: inout [UInt8]) -> FramingError? {
    var position = 0
    do {
      while position < bytes.count {
        switch state {
        case .refused: return nil
        case .fixedBody(let left):
          let count = pass(left, of: bytes, from: &position, into: &output)
          state = .fixedBody(left: left - count)
          if left == count { endBody(into: &output) }
        case .chunk(let left):
          let count = pass(left, of: bytes, from: &position, into: &output)
          state = left == count ? .chunkEnd : .chunk(left: left - count)
        case .requestLine, .headerLines, .chunkSize, .chunkEnd, .trailers:
          line.append(bytes[position])
          position += 1
          try checkLine()
          if line.last == UInt8(ascii: "\n") { try endLine(into: &output) }
        }
      }
    } catch {
      refuse(into: &output)
      return error as? FramingError ?? .malformed("\(error)")
    }
    return nil
  }

  /// Ends the present request here and now, whatever has come of it, and takes nothing more.
  mutating func refuse(into output: inout [UInt8]) {
    switch phase {
    case .idle, .head:
      requests += 1
      output += head.substitute
    case .body: output += Self.lastChunk
    case .refused: break
    }
    state = .refused
    line = []
    head = RequestHead()
  }

  /// Gives on up to `left` bytes as a chunk.
  private mutating func pass(
    _ left: Int, of bytes: UnsafeRawBufferPointer, from position: inout Int, into output: inout [UInt8]
  ) -> Int {
    let count = min(left, bytes.count - position)
    output += Array("\(String(count, radix: 16))\r\n".utf8)
    output += bytes[position..<(position + count)]
    output += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
    position += count
    bodyBytes += count
    return count
  }

  private mutating func endBody(into output: inout [UInt8]) {
    output += Self.lastChunk
    expectRequest()
  }

  private mutating func expectRequest() {
    state = .requestLine
    head = RequestHead()
    headBytes = 0
  }

  /// Looks at the newest byte of the line, so that nothing has to end before it is refused.
  private func checkLine() throws {
    let byte = line[line.count - 1]
    let wasReturn = line.count > 1 && line[line.count - 2] == UInt8(ascii: "\r")
    if wasReturn != (byte == UInt8(ascii: "\n")) { throw FramingError.malformed("a line does not end with CRLF") }
    switch byte {
    case UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), 0x20...0x7E, 0x80...: break
    default: throw FramingError.malformed("there is a control character outside the body")
    }
    switch state {
    case .requestLine:
      if line.count == Self.maximumMethod + 1 && !line.contains(UInt8(ascii: " ")) {
        throw FramingError.malformed("the request does not begin with a method")
      }
      if line.count > Self.maximumTarget + Self.maximumMethod + 12 { throw FramingError.target }
    case .chunkSize:
      if line.count > Self.maximumChunkLine { throw FramingError.malformed("the line of a chunk's size is too long") }
    case .chunkEnd:
      if line.count == 1 && byte != UInt8(ascii: "\r") {
        throw FramingError.malformed("a chunk is longer than it says")
      }
    default:
      if line.count > Self.maximumLine || headBytes + line.count > maximumHead { throw FramingError.headers }
    }
  }

  private mutating func endLine(into output: inout [UInt8]) throws {
    let text = line.dropLast(2)
    switch state {
    case .requestLine:
      headBytes += line.count
      if headBytes > maximumHead { throw FramingError.headers }
      if !text.isEmpty {  // empty lines before a request are allowed
        try head.begin(text)
        state = .headerLines
      }
    case .headerLines:
      headBytes += line.count
      if text.isEmpty { try endHead(into: &output) } else { try head.add(text) }
    case .chunkSize:
      let size = try RequestHead.chunkSize(text, maximum: maximumBody - bodyBytes)
      state = size == 0 ? .trailers : .chunk(left: size)
    case .chunkEnd: state = .chunkSize
    case .trailers:
      headBytes += line.count
      if text.isEmpty { endBody(into: &output) } else { try head.addTrailer(text) }
    case .fixedBody, .chunk, .refused: break  // these have no lines
    }
    line.removeAll(keepingCapacity: true)
  }

  private mutating func endHead(into output: inout [UInt8]) throws {
    let body = try head.end(maximumBody: maximumBody)
    output += head.text
    requests += 1
    bodyBytes = 0
    switch body {
    case .none: expectRequest()
    case .fixed(let count): state = .fixedBody(left: count)
    case .chunked: state = .chunkSize
    }
  }
}
