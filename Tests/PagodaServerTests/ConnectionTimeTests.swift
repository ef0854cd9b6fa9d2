// Requests that do not arrive: deadlines, progress, and capacity for others.
import Foundation
import Testing

@testable import PagodaServer

@Suite struct ConnectionTimeTests {
  @Test func incomplete_requests_time_out() throws {
    let cases: [(String, Int?)] = [
      ("", nil), ("GET /", 408), ("POST /a \(head)Content-Length: 9\r\n\r\nabc", 408),
    ]
    for (text, status) in cases {
      let bench = try ConnectionBench()
      if !text.isEmpty { bench.send(text) }
      bench.settle()
      bench.wait(9.9)
      #expect(bench.received() == "" && bench.connection.stage == .reading)
      bench.wait(11)
      if let status {
        #expect(bench.received().hasPrefix("HTTP/1.1 \(status) ") && bench.connection.stage != .reading, "\(text)")
      } else {
        #expect(bench.received() == "" && bench.connection.stage == .closed)
      }
    }
    let bench = try ConnectionBench { $0.idleSeconds = 50 }
    bench.send("GET /quick \(head)\r\n")
    bench.settle()
    bench.wait(49)
    #expect(bench.connection.stage == .reading)
    bench.wait(2)
    #expect(bench.connection.stage == .closed)
  }

  @Test func progress_is_the_start_of_a_part_or_another_second_of_a_slow_body() throws {
    let bench = try ConnectionBench { $0.bodyRate = 100 }
    bench.now = 101
    #expect(bench.connection.waiting == Waiting(part: .head, since: 100))
    bench.send("POST /a \(head)Content-Le")
    bench.settle()
    #expect(bench.connection.waiting == Waiting(part: .head, since: 100))
    bench.send("ngth: 300\r\n\r\n")
    bench.settle()
    #expect(bench.connection.waiting == Waiting(part: .body, since: 101))
    bench.now = 102
    bench.send(String(repeating: "x", count: 99))
    bench.settle()
    #expect(bench.connection.waiting == Waiting(part: .body, since: 101, bodyBytes: 99))
    bench.now = 103
    bench.send("x")
    bench.settle()
    #expect(bench.connection.waiting == Waiting(part: .body, since: 103, bodyBytes: 100))
    bench.send(String(repeating: "x", count: 200))
    bench.settle()
    #expect(bench.connection.waiting == nil)
    bench.now = 104
    bench.service.waiting[0].reply(whole("done"))
    bench.settle()
    #expect(bench.connection.waiting == Waiting(part: .nextRequest, since: 104))
  }

  @Test func an_evicted_incomplete_request_gets_an_error() throws {
    for (text, status) in [("", nil), ("GET /", "408"), ("POST /a \(head)Content-Length: 9\r\n\r\nabc", "408")] {
      let bench = try ConnectionBench()
      if !text.isEmpty { bench.send(text) }
      bench.settle()
      bench.connection.fail(.evicted, bench.now)
      #expect(bench.connection.stage == .closed)
      #expect(bench.received().hasPrefix(status.map { "HTTP/1.1 \($0) " } ?? "") && bench.service.waiting.isEmpty)
      #expect(bench.service.finished.map(\.status) == (status == nil ? [] : [408]))
    }
  }
}
