// Where requests begin and end: the same for any chunks they arrive in, and a response to every kind of error.
import Foundation
import Testing

@testable import PagodaServer

@Suite struct RequestFramingTests {
  private static func frame(_ chunks: [ArraySlice<UInt8>]) throws -> Verdict { try FramingStreams.frame(chunks) }

  private static func frame(_ text: String) throws -> Verdict { try frame([Array(text.utf8)[...]]) }

  private static let get = "GET / HTTP/1.1\r\nHost: x\r\n"
  private static let chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
  private static func long(_ count: Int) -> String { String(repeating: "a", count: count) }

  /// Bytes, and the status they are refused with.
  private static let bad: [(String, Int)] = [
    (get + "Content-Length: abc\r\n\r\n", 400), (get + "Content-Length:\r\n\r\n", 400),
    (get + "Content-Length: -1\r\n\r\n", 400), (get + "Content-Length: +1\r\n\r\n", 400),
    (get + "Content-Length: 1 1\r\n\r\n", 400), (get + "Content-Length: 1,1\r\n\r\n", 400),
    (get + "Content-Length: 1\r\ncontent-length: 1\r\n\r\n", 400), (get + "Content-Length: 1001\r\n\r\n", 413),
    (get + "Content-Length: 18446744073709551616\r\n\r\n", 413),
    (get + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    (get + "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n", 400),
    (get + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    (get + "Transfer-Encoding: chunked, chunked\r\n\r\n", 400), (get + "Transfer-Encoding: chunked, gzip\r\n\r\n", 400),
    (get + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501), (get + "Transfer-Encoding: identity\r\n\r\n", 501),
    (get + "Transfer-Encoding: xchunked\r\n\r\n", 501), (get + "Transfer-Encoding:\r\n\r\n", 501),
    ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    (chunked + "-2\r\n", 400), (chunked + "+2\r\n", 400), (chunked + "g\r\n", 400), (chunked + "\r\n", 400),
    (chunked + " 2\r\n", 400), (chunked + "2 \r\n", 400), (chunked + "0x2\r\n", 400), (chunked + "٢\r\n", 400),
    (chunked + ";x\r\n", 400), (chunked + "2\n", 400), (chunked + "2\r2", 400), (chunked + "2;\u{0}\r\n", 400),
    (chunked + "2;" + long(300), 400), (chunked + "2\r\nabc", 400), (chunked + "2\r\nab\n", 400),
    (chunked + "2\r\nab\rx", 400), (chunked + "3e9\r\n", 413), (chunked + "3e8\r\n\(long(1000))\r\n1\r\n", 413),
    (chunked + "7fffffffffffffff\r\n", 413), (chunked + "\(String(repeating: "f", count: 20))\r\n", 413),
    (chunked + "0\r\nx\r\n", 400), (chunked + "0\r\nx: \(long(9000))", 431),
    (chunked + "0\r\n" + String(repeating: "x: y\r\n", count: 99), 431),
    ("GET /\r\n", 400), ("GET  / HTTP/1.1\r\n", 400), ("GET / HTTP/1.1 \r\n", 400), (" GET / HTTP/1.1\r\n", 400),
    ("GET / x HTTP/1.1\r\n", 400), ("GET\t/ HTTP/1.1\r\n", 400), ("G{T / HTTP/1.1\r\n", 400), ("x\r\n", 400),
    ("GET ?x HTTP/1.1\r\n", 400), ("GET / http/1.1\r\n", 400), ("GET / HTTP/1.10\r\n", 400),
    ("GET / HTTP/1,1\r\n", 400), (long(33), 400), ("GET / HTTP/1.2\r\n", 505), ("GET / HTTP/2.0\r\n", 505),
    ("PRI * HTTP/2.0\r\n", 505), ("GET / HTTP/0.9\r\n", 505), ("GET /\(long(8000)) HTTP/1.1\r\n", 414),
    ("GET /\(long(8100))", 414), ("\u{16}", 400), ("GET / HTTP/1.1\n", 400), ("\n", 400), ("\rG", 400),
    (get + "\n", 400), (get + "x y: 1\r\n", 400), (get + "x : 1\r\n", 400), (get + ": 1\r\n", 400),
    (get + "x\r\n", 400), (get + " x: 1\r\n", 400), (get + "x: 1\r\n 2\r\n", 400), (get + "x: \u{0}", 400),
    (get + "x: \u{7F}", 400), (get + "x: a\rb", 400), (get + "x: \(long(8192))", 431),
    (get + String(repeating: "x: y\r\n", count: 100), 431),
    (get + "x: \(long(8000))\r\ny: \(long(8000))\r\nz: \(long(400))", 431),
    ("GET / HTTP/1.1\r\n\r\n", 400), (get + "host: y\r\n\r\n", 400),
  ]

  @Test func each_fault_has_its_status_wherever_the_chunks_are_cut() throws {
    for (text, status) in Self.bad {
      let bytes = Array(
        ("GET /first HTTP/1.1\r\nHost: x\r\n\r\n" + text + "GET /never HTTP/1.1\r\nHost: x\r\n\r\n").utf8)
      let whole = try Self.frame([bytes[...]])
      #expect(whole.error?.status == status, "\(text.prefix(200).debugDescription): \(whole)")
      #expect(whole.count == 2 && whole.requests.map(\.line).first == "GET /first HTTP/1.1", "\(text.prefix(200))")
      #expect(whole.requests.count == 2, "one whole request takes the place of the broken one")
      #expect(try Self.frame(bytes.indices.map { bytes[$0...$0] }) == whole, "\(text.prefix(200)) byte by byte")
      for cut in stride(from: 0, through: bytes.count, by: bytes.count < 600 ? 1 : 997) {
        #expect(try Self.frame([bytes[..<cut], bytes[cut...]]) == whole, "\(text.prefix(200)) cut at \(cut)")
      }
    }
  }

  @Test func good_requests_are_read_as_they_were_meant() throws {
    let text =
      "\r\n\r\nGET /a?b=c&d HTTP/1.1\r\nHOST:x\r\nCookie: a=b\r\nX-Y: \t z \t\r\n\r\n"
      + "POST /b HTTP/1.0\r\ncontent-length: 3\r\n\r\nabc" + "POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
      + "PUT /d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
      + "02;a=\"b\"\r\nde\r\nA\r\n0123456789\r\n000\r\nTrailer: t\r\n\r\n"
    let verdict = try Self.frame(text)
    #expect(
      verdict.requests == [
        Seen(line: "GET /a HTTP/1.1", headers: ["host: x", "x-y: z"], body: []),
        Seen(line: "POST /b HTTP/1.0", headers: ["content-length: 3"], body: Array("abc".utf8)),
        Seen(line: "POST /c HTTP/1.1", headers: ["host: x", "content-length: 0"], body: []),
        Seen(
          line: "PUT /d HTTP/1.1", headers: ["host: x", "transfer-encoding: Chunked"], body: Array("de0123456789".utf8)),
      ])
    #expect(verdict.error == nil && verdict.count == 4 && verdict.isIdle)
  }

  @Test func the_largest_that_is_allowed_passes() throws {
    #expect(try Self.frame("GET /\(Self.long(7999)) HTTP/1.1\r\nHost: x\r\n\r\n").error == nil)
    #expect(try Self.frame(Self.get + "x: \(Self.long(8191))\r\n\r\n").error == nil)
    #expect(try Self.frame(Self.get + String(repeating: "x: y\r\n", count: 99) + "\r\n").error == nil)
    #expect(try Self.frame(Self.get + "Content-Length: 1000\r\n\r\n\(Self.long(1000))").isIdle)
    #expect(try Self.frame(Self.chunked + "3e8\r\n\(Self.long(1000))\r\n0\r\n\r\n").isIdle)
  }

  @Test func a_refused_request_is_answered_in_its_own_format() throws {
    let known = try Self.frame("POST /v1/messages?x HTTP/1.1\r\nHost: x\r\nx\r\n")
    #expect(known.requests.map(\.line) == ["POST /v1/messages HTTP/1.1"])
    let unknown = try Self.frame(Self.get + "\r\n" + "nonsense\r\n")
    #expect(unknown.requests.map(\.line) == ["GET / HTTP/1.1", "- - HTTP/1.1"])
  }

  @Test func an_absolute_target_is_a_path_and_a_host() throws {
    let rest = " HTTP/1.1\r\nHost: other\r\n\r\n"
    for (target, path, host) in [
      ("http://localhost:80/v1/models?x", "/v1/models", "localhost:80"), ("HTTPS://a.b", "/", "a.b"),
      ("http://a.b?x", "/", "a.b"), ("/http://a.b/", "/http://a.b/", "other"), ("*", "*", "other"),
      ("/a%2fb%C3%A9%zz%4", "/a/b\u{e9}%zz%4", "other"),
    ] {
      let seen = try Self.frame("GET \(target)\(rest)")
      #expect(seen.requests == [Seen(line: "GET \(path) HTTP/1.1", headers: ["host: \(host)"], body: [])], "\(target)")
    }
    for target in ["http:///x", "http://", "http://user@localhost/", "http://?x"] {
      #expect(try Self.frame("GET \(target)\(rest)").error?.status == 400, "\(target)")
    }
  }

  @Test func random_requests_are_framed_alike_in_any_chunks() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(state: seed)
    for round in 0..<300 {
      #expect(throws: Never.self, "seed \(seed), round \(round)") { try FramingStreams.round(&random) }
    }
  }
}
