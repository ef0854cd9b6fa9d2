// Answers that are streamed: chunks, slow readers, and silence.
import Foundation
import Testing

@testable import PagodaServer

@Suite struct ConnectionStreamTests {
  @Test func streams_are_chunks_or_last_until_the_end() throws {
    for version in ["1.1", "1.0"] {
      let bench = try ConnectionBench()
      bench.send("GET /a HTTP/\(version)\r\nHost: x\r\n\r\n")
      bench.settle()
      let body = StreamBody(NumberEncoder(), maximumPending: 10) {}
      bench.service.waiting[0].reply(.stream([], body))
      bench.settle()
      let first = bench.received()
      body.push(.keepAlive)
      body.push(.cut(.shuttingDown))
      bench.settle()
      if version == "1.1" {
        #expect(first == "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n6\nbegin\n\n")
        #expect(bench.received() == "a\nalive\nend\n\n0\n\n" && bench.connection.stage == .lingering)
      } else {
        #expect(first == "HTTP/1.1 200 OK\nConnection: close\n\nbegin\n")
        #expect(bench.received() == "alive\nend\n" && bench.connection.stage == .lingering)
      }
      #expect(bench.service.finished.map(\.isWhole) == [false], "an answer that was cut is not whole")
    }
  }

  @Test func a_slow_reader_holds_up_the_stream_and_not_the_memory() throws {
    let bench = try ConnectionBench()
    bench.send("GET /a \(head)\r\n")
    bench.settle()
    let overflows = Box(0)
    let exchange = bench.service.waiting[0]
    let body = StreamBody(NumberEncoder(), maximumPending: 500) {
      overflows.value += 1
      exchange.stopWork()
    }
    exchange.reply(.stream([], body))
    // The system's buffers take some, then the stream fills up; all of it arrives when the client reads.
    for index in 0..<400 {
      body.push(.event(choice: index, .failure(.cancelled(""))))
      bench.settle()
    }
    #expect(bench.connection.interest.contains(.write) && overflows.value == 0)
    #expect(bench.received().count > 400_000 && bench.connection.stage == .answering)
    for _ in 0..<2000 { body.push(.event(choice: 1, .failure(.cancelled("")))) }
    #expect(overflows.value == 1)
    bench.settle()
    #expect(bench.received().hasSuffix("\ntoo slow\n\n0\n\n"), "the last event says why the stream ends")
    bench.settle()
    #expect(bench.connection.stage == .lingering && bench.service.finished.map(\.isWhole) == [false])
  }

  @Test func a_client_that_takes_nothing_is_dropped_in_time() throws {
    let bench = try ConnectionBench { $0.idleSeconds = 30 }
    bench.send("GET /a \(head)\r\n")
    bench.settle()
    bench.service.waiting[0].reply(whole(String(repeating: "x", count: 4 << 20)))
    bench.settle()
    bench.wait(29)
    #expect(bench.connection.stage == .answering)
    _ = bench.received(atMost: 1 << 20)
    bench.wait(29)
    #expect(bench.connection.stage == .answering)
    bench.wait(2)
    #expect(bench.connection.stage == .closed && bench.service.finished.map(\.isWhole) == [false])
  }

  @Test func silence_in_a_stream_is_filled() throws {
    let bench = try ConnectionBench { $0.keepAliveSeconds = 5 }
    bench.now = monotonicSeconds()  // streams use the real clock
    bench.send("GET /a \(head)\r\n")
    bench.settle()
    let body = StreamBody(NumberEncoder(), maximumPending: 10) {}
    bench.service.waiting[0].reply(.stream([], body))
    bench.settle()
    _ = bench.received()
    let silence = try #require(body.silentSince)
    bench.now = silence + 4.9
    bench.connection.expire(bench.now)
    bench.settle()
    #expect(bench.received() == "")
    bench.now = silence + 5.1
    bench.connection.expire(bench.now)
    bench.settle()
    #expect(bench.received() == "6\nalive\n\n")
  }
}
