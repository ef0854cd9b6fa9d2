// RequestFraming: finds requests in the bytes of a client, and errors in them. No IO.

/// Reads requests from the bytes of a client, in chunks of any size. Strict: ambiguous input is refused.
struct RequestFraming {
  static let maximumHeaders = 100
  static let maximumTarget = 8000
  static let maximumLine = 8192 + 4  // name and value of a header, the colon, a space, CRLF
  private static let maximumMethod = 32
  private static let maximumChunkLine = 256

  /// A parsed element. Each request is a head, any number of parts of its body, and an end.
  enum Event {
    case head(RequestHead)
    case body(Range<Int>)  // range of the given bytes
    case end
  }

  enum Phase {
    case idle  // between requests
    case head
    case body
    case refused  // everything that follows is meaningless
  }

  private enum State {
    case requestLine
    case headerLines
    case fixedBody(left: Int)
    case chunkSize
    case chunk(left: Int)
    case chunkEnd
    case trailers
    case ended  // the request is complete; reported by the next call
    case refused
  }

  /// Requests started so far, including a refused one.
  private(set) var requests = 0
  /// Body bytes of the current request.
  private(set) var bodyBytes = 0
  /// The part of the current request's head received so far.
  private(set) var head = RequestHead()

  private let maximumHead: Int
  private let maximumBody: Int
  private var state = State.requestLine
  private var line: [UInt8] = []  // the received part, with its end
  private var headBytes = 0  // as sent, including trailers

  init(maximumHead: Int, maximumBody: Int) {
    self.maximumHead = maximumHead
    self.maximumBody = maximumBody
  }

  var phase: Phase {
    switch state {
    case .requestLine: line.isEmpty ? .idle : .head
    case .headerLines: .head
    case .fixedBody, .chunkSize, .chunk, .chunkEnd, .trailers, .ended: .body
    case .refused: .refused
    }
  }

  /// Whether the current request has arrived completely, with its end not yet reported.
  var isWhole: Bool { if case .ended = state { true } else { false } }

  /// The next event in `bytes` from `position` on, which moves past the bytes read; nil if more bytes are needed. The
  /// first error is final.
  mutating func next(_ bytes: UnsafeRawBufferPointer, from position: inout Int) throws(FramingError) -> Event? {
    do {
      if case .ended = state {
        expectRequest()
        return .end
      }
      while position < bytes.count {
        switch state {
        case .refused: return nil
        case .ended: return try next(bytes, from: &position)
        case .fixedBody(let left):
          let part = part(left, of: bytes.count, from: &position)
          state = left == part.count ? .ended : .fixedBody(left: left - part.count)
          return .body(part)
        case .chunk(let left):
          let part = part(left, of: bytes.count, from: &position)
          state = left == part.count ? .chunkEnd : .chunk(left: left - part.count)
          return .body(part)
        case .requestLine, .headerLines, .chunkSize, .chunkEnd, .trailers:
          try takeLine(bytes, from: &position)
          if line.last == UInt8(ascii: "\n"), let event = try endLine() { return event }
        }
      }
      if case .ended = state { return try next(bytes, from: &position) }
      return nil
    } catch {
      refuse()
      throw error
    }
  }

  /// Ends the current request immediately, however much of it has arrived, and accepts nothing more.
  mutating func refuse() {
    if phase == .idle || phase == .head { requests += 1 }
    state = .refused
    line = []
  }

  private mutating func part(_ left: Int, of count: Int, from position: inout Int) -> Range<Int> {
    let part = position..<min(position + left, count)
    position = part.upperBound
    bodyBytes += part.count
    return part
  }

  private mutating func expectRequest() {
    state = .requestLine
    head = RequestHead()
    headBytes = 0
  }

  /// Up to the end of a line, or of the bytes.
  private mutating func takeLine(_ bytes: UnsafeRawBufferPointer, from position: inout Int) throws(FramingError) {
    repeat {
      line.append(bytes[position])
      position += 1
      try checkLine()
    } while position < bytes.count && line.last != UInt8(ascii: "\n")
  }

  /// Checks the newest byte of the line, so that a line can be refused before its end.
  private func checkLine() throws(FramingError) {
    let byte = line[line.count - 1]
    let wasReturn = line.count > 1 && line[line.count - 2] == UInt8(ascii: "\r")
    if wasReturn != (byte == UInt8(ascii: "\n")) { throw .malformed("a line does not end with CRLF") }
    switch byte {
    case UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), 0x20...0x7E, 0x80...: break
    default: throw .malformed("there is a control character outside the body")
    }
    switch state {
    case .requestLine:
      if line.count == Self.maximumMethod + 1 && !line.contains(UInt8(ascii: " ")) {
        throw .malformed("the request does not begin with a method")
      }
      if line.count > Self.maximumTarget + Self.maximumMethod + 12 { throw .target }
    case .chunkSize:
      if line.count > Self.maximumChunkLine { throw .malformed("the line of a chunk's size is too long") }
    case .chunkEnd:
      if line.count == 1 && byte != UInt8(ascii: "\r") { throw .malformed("a chunk is longer than it says") }
    default:
      if line.count > Self.maximumLine || headBytes + line.count > maximumHead { throw .headers }
    }
  }

  private mutating func endLine() throws(FramingError) -> Event? {
    defer { line.removeAll(keepingCapacity: true) }
    let text = line.dropLast(2)
    switch state {
    case .requestLine:
      headBytes += line.count
      if headBytes > maximumHead { throw .headers }
      if text.isEmpty { return nil }  // empty lines before a request are allowed
      try head.begin(text)
      state = .headerLines
    case .headerLines:
      headBytes += line.count
      if text.isEmpty { return try endHead() }
      try head.add(text)
    case .chunkSize:
      let size = try RequestHead.chunkSize(text, maximum: maximumBody - bodyBytes)
      state = size == 0 ? .trailers : .chunk(left: size)
    case .chunkEnd: state = .chunkSize
    case .trailers:
      headBytes += line.count
      if text.isEmpty { state = .ended } else { try head.addTrailer(text) }
    case .fixedBody, .chunk, .ended, .refused: break  // these have no lines
    }
    return nil
  }

  private mutating func endHead() throws(FramingError) -> Event {
    let body = try head.end(maximumBody: maximumBody)
    requests += 1
    bodyBytes = 0
    switch body {
    case .none: state = .ended
    case .fixed(let count): state = .fixedBody(left: count)
    case .chunked: state = .chunkSize
    }
    return .head(head)
  }
}
