// Random streams of requests, and their reading by RequestFraming: for the tests, and for Tools/fuzz/framing.sh.
import Foundation

#if canImport(PagodaServer)
@testable import PagodaServer
#endif

/// A request as it was read.
struct Seen: Equatable {
  var line: String
  var headers: [String]
  var body: [UInt8]

  init(line: String, headers: [String], body: [UInt8]) { (self.line, self.headers, self.body) = (line, headers, body) }

  init(_ head: RequestHead) {
    line = "\(head.method) \(head.path) HTTP/1.\(head.isVersion11 ? 1 : 0)"
    headers = head.headers.map { "\($0.name): \($0.value)" }
    body = []
  }
}

struct Verdict: Equatable {
  var requests: [Seen]
  var error: FramingError?
  var count: Int
  var isIdle: Bool
}

/// Something that framing must never do.
struct FramingFault: Error {
  var reason: String
}

enum FramingStreams {
  static func frame(_ chunks: [ArraySlice<UInt8>]) throws -> Verdict {
    var framing = RequestFraming(maximumHead: 16 << 10, maximumBody: 1000)
    var (requests, error, isOpen): ([Seen], FramingError?, Bool) = ([], nil, false)
    for chunk in chunks {
      var position = 0
      do {
        while let event = try chunk.withUnsafeBytes({ try framing.next($0, from: &position) }) {
          switch event {
          case .head(let head):
            if isOpen { throw FramingFault(reason: "a head inside a request") }
            requests.append(Seen(head))
            isOpen = true
          case .body(let range):
            if !isOpen || range.isEmpty { throw FramingFault(reason: "a part of no body") }
            requests[requests.count - 1].body += chunk.dropFirst(range.lowerBound).prefix(range.count)
          case .end:
            if !isOpen { throw FramingFault(reason: "an end without a beginning") }
            isOpen = false
          }
        }
        if position != chunk.count && framing.phase != .refused { throw FramingFault(reason: "bytes are left over") }
      } catch let found as FramingError {
        if error != nil { throw FramingFault(reason: "a second error") }
        error = error ?? found
        if !isOpen { requests.append(Seen(framing.head)) }  // a request broken before its headers ended
        isOpen = false
      }
    }
    return Verdict(requests: requests, error: error, count: framing.requests, isIdle: framing.phase == .idle)
  }

  /// Valid requests, whole and in chunks; then the same with a few bytes changed, inserted or removed, which must be
  /// read the same way for any chunks. Counts as two streams.
  static func round(_ random: inout SplitMix) throws {
    var (bytes, expected) = ([UInt8](), [Seen]())
    for _ in 0..<Int.random(in: 1...4, using: &random) { expected.append(add(to: &bytes, &random)) }
    let verdict = try frame(cut(bytes, &random))
    if verdict.requests != expected || verdict.error != nil || !verdict.isIdle {
      throw FramingFault(reason: "good requests were read as \(verdict)")
    }
    for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty { change(&bytes, &random) }
    let changed = try frame([bytes[...]])
    if try frame(cut(bytes, &random)) != changed {
      throw FramingFault(reason: "chunks change what is read of \(bytes)")
    }
  }

  private static func change(_ bytes: inout [UInt8], _ random: inout SplitMix) {
    let offset = Int.random(in: bytes.indices, using: &random)
    switch Int.random(in: 0...4, using: &random) {
    case 0: bytes.remove(at: offset)
    case 1: bytes.insert(contentsOf: parts.randomElement(using: &random)!.utf8, at: offset)
    case 2: bytes.removeSubrange(offset..<min(bytes.count, offset + Int.random(in: 1...40, using: &random)))
    default: bytes[offset] = UInt8.random(in: 0...255, using: &random)
    }
  }

  private static let parts = [
    "\r\n", "\n", "\r", "\r\n\r\n", "0\r\n\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", " ", "\t",
    "\0",
    "GET / HTTP/1.1\r\n", "GET / HTTP/1.0\r\n\r\n", ":", ";", "ffffffffffffffff\r\n", "-1", "+5", "0x5", "Host: a\r\n",
    "\u{e9}",
  ]

  static func cut(_ bytes: [UInt8], _ random: inout SplitMix) -> [ArraySlice<UInt8>] {
    var (chunks, start) = ([ArraySlice<UInt8>](), 0)
    let longest = Int.random(in: 1...100, using: &random)
    while start < bytes.count {
      let end = min(bytes.count, start + Int.random(in: 1...longest, using: &random))
      chunks.append(bytes[start..<end])
      start = end
    }
    return chunks
  }

  static func add(to bytes: inout [UInt8], _ random: inout SplitMix) -> Seen {
    let line = "\(["GET", "POST", "x-Y!"].randomElement(using: &random)!) /\(Int.random(in: 0...99, using: &random))"
    var seen = Seen(line: "\(line) HTTP/1.1", headers: ["host: h"], body: [])
    var head = "\(line)\(Bool.random(using: &random) ? "?q=\u{e9}" : "") HTTP/1.1\r\nHost:h\r\n"
    for index in 0..<Int.random(in: 0...5, using: &random) {
      head += "n\(index):\(Bool.random(using: &random) ? "  " : "")v v\t\r\n"
      seen.headers.append("n\(index): v v")
    }
    let count = Int.random(in: 1...200, using: &random)
    let body = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    switch Int.random(in: 0...2, using: &random) {
    case 0: bytes += Array("\(head)\r\n".utf8)
    case 1:
      bytes += Array("\(head)cOntent-length: 00\(count) \r\n\r\n".utf8) + body
      seen.headers.append("content-length: 00\(count)")
      seen.body = body
    default:
      bytes += Array("\(head)transfer-encoding:CHUNKED\r\n\r\n".utf8)
      for chunk in cut(body, &random) {
        let size = String(chunk.count, radix: 16, uppercase: Bool.random(using: &random))
        bytes += Array("\(size)\(Bool.random(using: &random) ? ";e" : "")\r\n".utf8) + chunk + Array("\r\n".utf8)
      }
      bytes += Array("0\r\n\(Bool.random(using: &random) ? "t: u\r\n" : "")\r\n".utf8)
      seen.headers.append("transfer-encoding: CHUNKED")
      seen.body = body
    }
    return seen
  }
}

/// Random numbers that are reproducible from a seed.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
