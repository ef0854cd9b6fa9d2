// Requests and answers of one connection: their order, their framing and their end.
import Foundation
import Testing

@testable import PagodaServer

@Suite struct ConnectionTests {
  @Test func requests_sent_ahead_are_answered_in_turn() throws {
    let bench = try ConnectionBench()
    bench.send("GET /a \(head)\r\nGET /quick \(head)\r\nGET /b \(head)\r\n")
    bench.settle()
    #expect(bench.received() == "" && bench.service.waiting.map(\.head.path) == ["/a"])
    bench.service.waiting[0].reply(whole("first"))
    bench.settle()
    #expect(bench.received() == ok("first") + ok("quick"))
    #expect(bench.service.waiting.map(\.head.path) == ["/a", "/b"])
    bench.service.waiting[1].reply(whole("third"))
    bench.settle()
    #expect(bench.received() == ok("third") && bench.connection.stage == .reading)
    #expect(bench.service.finished.map(\.path) == ["/a", "/quick", "/b"])
  }

  @Test func the_read_ahead_is_bounded() throws {
    let bench = try ConnectionBench()
    bench.send("GET /a \(head)\r\n")
    bench.settle()
    for _ in 0..<3 {
      bench.send("POST /b \(head)Content-Length: 30000\r\n\r\n\(String(repeating: "x", count: 30000))")
      bench.settle()
    }
    #expect(!bench.connection.interest.contains(.read))
    bench.service.waiting[0].reply(whole("a"))
    bench.settle()
    #expect(bench.service.waiting.count == 2 && bench.service.waiting[1].request.body.count == 30000)
  }

  @Test func a_head_request_gets_the_length_and_no_body() throws {
    let bench = try ConnectionBench()
    bench.send("HEAD /quick \(head)\r\nGET /quick \(head)\r\n")
    bench.settle()
    #expect(bench.received() == ok("quick").replacing("\n\nquick", with: "\n\n") + ok("quick"))
  }

  @Test func connections_end_when_either_side_says_so() throws {
    for (text, more) in [
      ("GET /quick \(head)Connection: close\r\n\r\n", "Connection: close\n"),
      ("GET /quick HTTP/1.0\r\n\r\n", "Connection: close\n"),
    ] {
      let bench = try ConnectionBench()
      bench.send(text + "GET /quick \(head)\r\n")
      bench.settle()
      #expect(bench.received() == ok("quick", more) && bench.connection.stage == .lingering)
      bench.wait(10)
      #expect(bench.connection.stage == .closed)
    }
    let old = try ConnectionBench()
    old.send("GET /quick HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
    old.settle()
    #expect(old.received() == ok("quick", "Connection: keep-alive\n") && old.connection.stage == .reading)
    let closing = try ConnectionBench()
    closing.send("GET /a \(head)\r\n")
    closing.settle()
    closing.service.waiting[0].reply(.whole(HTTPResponse(type: "text/plain", body: []).closing()))
    closing.settle()
    #expect(closing.received() == ok("", "Connection: close\n") && closing.connection.stage == .lingering)
  }

  @Test func expect_100_continue_is_answered() throws {
    let bench = try ConnectionBench()
    let asking = "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n"
    bench.send("POST /a \(head)\(asking)")
    bench.settle()
    #expect(bench.received() == "HTTP/1.1 100 Continue\n\n")
    bench.send("abc")
    bench.settle()
    #expect(bench.service.waiting[0].request.body == Array("abc".utf8))
    bench.service.waiting[0].reply(whole("done"))
    bench.settle()
    #expect(bench.received() == ok("done"))
    bench.send("POST /a \(head)\(asking)abc")  // sends the body without waiting for 100 Continue
    bench.settle()
    #expect(bench.received() == "" && bench.service.waiting.count == 2)
    let other = try ConnectionBench()
    other.send("POST /quick \(head)\(asking)")
    other.settle()
    #expect(other.received() == ok("quick", "Connection: close\n") && other.connection.stage == .lingering)
  }

  @Test func a_half_closed_client_gets_an_error_and_its_work_ends() throws {
    let bench = try ConnectionBench()
    bench.send("GET /quick \(head)\r\nGET /a \(head)\r\n")
    bench.endSending()
    bench.settle()
    #expect(bench.received() == ok("quick"))
    let wasCancelled = Box(false)
    bench.service.waiting[0].onGone { wasCancelled.value = true }
    bench.wait(1)
    #expect(wasCancelled.value && bench.received().hasPrefix("HTTP/1.1 499 ") && bench.connection.stage == .closed)
  }

  @Test func requests_in_flight_when_the_server_stops_are_answered() throws {
    let last = HTTPResponse(status: 503, type: "text/plain", body: [])
    for text in ["GET /a \(head)\r\n", "POST /a \(head)Content-Length: 9\r\n\r\nabc"] {
      let bench = try ConnectionBench()
      bench.send(text)
      bench.settle()
      bench.connection.stop(with: last, now: bench.now)
      #expect(bench.received().hasPrefix("HTTP/1.1 503 Service Unavailable\nConnection: close\n"))
      #expect(bench.connection.isFinished)
    }
    let idle = try ConnectionBench()
    idle.connection.stop(with: last, now: idle.now)
    #expect(idle.received() == "" && idle.connection.isFinished)
  }

  @Test func no_header_value_ends_its_line() {
    var bytes: [UInt8] = []
    ResponseWriter.addHead(
      status: 200, headers: [HTTPHeader("x", "a\r\nSet-Cookie: b\u{0}")], framing: .length(0), AnswerRules(), to: &bytes
    )
    #expect(String(decoding: bytes, as: UTF8.self).contains("\r\nx: aSet-Cookie: b\r\n"))
  }
}
