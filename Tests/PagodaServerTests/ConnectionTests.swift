// A connection without a server: bytes go in at the other end of a socket pair, and time is a number.
import Foundation
import Testing

@testable import PagodaServer

/// Answers `/quick` at once; keeps the exchanges of everything else for the test to answer.
private final class FakeService: HTTPService, @unchecked Sendable {
  var waiting: [Exchange] = []
  var finished: [(path: String, status: Int, isWhole: Bool)] = []

  func action(for request: HTTPRequest) -> HTTPAction {
    switch request.path {
    case "/quick": .respond(HTTPResponse(type: "text/plain", body: Array("quick".utf8)))
    case "/refuse": .refuse(HTTPResponse(status: 403, type: "text/plain", body: []))
    default: .work { [unowned self] in waiting.append($0) }
    }
  }
  func bodyTooLarge(_ request: HTTPRequest) -> HTTPResponse { HTTPResponse(status: 413, type: "text/plain", body: []) }
  func refusal(of request: HTTPRequest, _ error: FramingError) -> HTTPResponse {
    HTTPResponse(status: error.status, type: "text/plain", body: [])
  }
  func headers(for request: HTTPRequest) -> [HTTPHeader] { [] }
  func finished(_ exchange: Exchange) { finished.append((exchange.head.path, exchange.status, exchange.isWhole)) }
}

/// Numbers as lines; the keep-alive and the end have words of their own.
private struct NumberEncoder: StreamEncoder {
  mutating func opening() -> String { "begin\n" }
  mutating func encode(_ item: StreamItem) -> (text: String, isLast: Bool) {
    switch item {
    case .event(let choice, _): (String(repeating: "\(choice % 10)", count: 1000) + "\n", false)
    case .keepAlive: ("alive\n", false)
    case .text(let text): (text, false)
    case .cut: ("end\n", true)
    }
  }
}

/// A client and its connection. Everything happens on the test's thread.
private final class Bench {
  let service = FakeService()
  let connection: Connection
  let mailbox: Mailbox
  private let client: Int32
  private let server: Int32
  var now = 100.0
  private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

  init(_ change: (inout HTTPLimits) -> Void = { _ in }) throws {
    var limits = HTTPLimits()
    change(&limits)
    let pair = try #require(Sockets.pair())
    (client, server) = pair
    mailbox = try #require(Mailbox())
    let context = ConnectionContext(
      service: service, limits: limits, mailbox: mailbox, load: ConnectionLoad(),
      addresses: AddressLimits(limits)
    ) { $0() }
    connection = Connection(socket: server, address: "", context, now: now)
  }

  deinit {
    close(client)
    close(server)
    scratch.deallocate()
  }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(bytes.withUnsafeBytes { Sockets.send(client, $0) } == .bytes(bytes.count))
  }

  func endSending() { _ = shutdown(client, Int32(SHUT_WR)) }

  /// Runs the event loop's actions until none is left.
  func settle() {
    for _ in 0..<1000 {
      var entry = pollfd(fd: server, events: 0, revents: 0)
      if connection.interest.contains(.read) { entry.events |= Int16(POLLIN) }
      if connection.interest.contains(.write) { entry.events |= Int16(POLLOUT) }
      let isReady = poll(&entry, 1, 0) > 0
      let posted = mailbox.take()
      if (!isReady && posted.isEmpty) || connection.stage == .closed { return }
      if isReady {
        let found = Int32(entry.revents)
        connection.handle(
          Readiness(
            socket: server, canRead: found & Int32(POLLIN) != 0, canWrite: found & Int32(POLLOUT) != 0,
            isBroken: found & Int32(POLLERR | POLLHUP) != 0),
          now: now, scratch: scratch)
      }
      for connection in posted { connection.advance(now) }
    }
    Issue.record("the connection does not come to rest")
  }

  /// Lets time pass in steps, as the event loop would.
  func wait(_ seconds: Double) {
    let end = now + seconds
    while connection.stage != .closed, connection.deadline <= end {
      now = max(now, connection.deadline)
      connection.expire(now)
      settle()
    }
    now = end
  }

  /// The bytes that the client received, without dates and ids.
  func received(atMost count: Int = 1 << 20) -> String {
    var bytes = [UInt8](repeating: 0, count: count)
    var all: [UInt8] = []
    while all.count < count, case .bytes(let got) = bytes.withUnsafeMutableBytes({ Sockets.receive(client, into: $0) })
    {
      all += bytes[..<got]
      settle()
    }
    let lines = String(decoding: all, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
    return lines.filter { !$0.hasPrefix("Date: ") && !$0.hasPrefix("x-request-id: ") }.joined(separator: "\n")
  }
}

private let head = "HTTP/1.1\r\nHost: x\r\n"
private func ok(_ body: String, _ more: String = "") -> String {
  "HTTP/1.1 200 OK\n\(more)Content-Type: text/plain\nContent-Length: \(body.utf8.count)\n\n\(body)"
}
private func whole(_ body: String) -> HTTPReply { .whole(HTTPResponse(type: "text/plain", body: Array(body.utf8))) }

@Suite struct ConnectionTests {
  @Test func requests_sent_ahead_are_answered_in_turn() throws {
    let bench = try Bench()
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

  @Test func what_is_read_ahead_is_bounded() throws {
    let bench = try Bench()
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
    let bench = try Bench()
    bench.send("HEAD /quick \(head)\r\nGET /quick \(head)\r\n")
    bench.settle()
    #expect(bench.received() == ok("quick").replacing("\n\nquick", with: "\n\n") + ok("quick"))
  }

  @Test func connections_end_when_either_side_says_so() throws {
    for (text, more) in [
      ("GET /quick \(head)Connection: close\r\n\r\n", "Connection: close\n"),
      ("GET /quick HTTP/1.0\r\n\r\n", "Connection: close\n"),
    ] {
      let bench = try Bench()
      bench.send(text + "GET /quick \(head)\r\n")
      bench.settle()
      #expect(bench.received() == ok("quick", more) && bench.connection.stage == .lingering)
      bench.wait(10)
      #expect(bench.connection.stage == .closed)
    }
    let old = try Bench()
    old.send("GET /quick HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
    old.settle()
    #expect(old.received() == ok("quick", "Connection: keep-alive\n") && old.connection.stage == .reading)
    let told = try Bench()
    told.send("GET /a \(head)\r\n")
    told.settle()
    told.service.waiting[0].reply(.whole(HTTPResponse(type: "text/plain", body: []).closing()))
    told.settle()
    #expect(told.received() == ok("", "Connection: close\n") && told.connection.stage == .lingering)
  }

  @Test func a_client_that_asks_first_is_told_to_go_on_or_not() throws {
    let bench = try Bench()
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
    bench.send("POST /a \(head)\(asking)abc")  // has not waited
    bench.settle()
    #expect(bench.received() == "" && bench.service.waiting.count == 2)
    let other = try Bench()
    other.send("POST /quick \(head)\(asking)")
    other.settle()
    #expect(other.received() == ok("quick", "Connection: close\n") && other.connection.stage == .lingering)
  }

  @Test func streams_are_chunks_or_last_until_the_end() throws {
    for version in ["1.1", "1.0"] {
      let bench = try Bench()
      bench.send("GET /a HTTP/\(version)\r\nHost: x\r\n\r\n")
      bench.settle()
      let body = StreamBody(NumberEncoder(), maximumPending: 10) {}
      bench.service.waiting[0].reply(.stream([], body))
      bench.settle()
      let first = bench.received()
      body.push(.keepAlive)
      body.push(.cut)
      bench.settle()
      if version == "1.1" {
        #expect(first == "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n6\nbegin\n\n")
        #expect(bench.received() == "a\nalive\nend\n\n0\n\n" && bench.connection.stage == .reading)
      } else {
        #expect(first == "HTTP/1.1 200 OK\nConnection: close\n\nbegin\n")
        #expect(bench.received() == "alive\nend\n" && bench.connection.stage == .lingering)
      }
      #expect(bench.service.finished.map(\.isWhole) == [true])
    }
  }

  @Test func a_slow_reader_holds_up_the_stream_and_not_the_memory() throws {
    let bench = try Bench()
    bench.send("GET /a \(head)\r\n")
    bench.settle()
    let overflows = Box(0)
    let exchange = bench.service.waiting[0]
    let body = StreamBody(NumberEncoder(), maximumPending: 500) {
      overflows.value += 1
      exchange.abandon()
    }
    exchange.reply(.stream([], body))
    // The system's buffers take some, then the stream fills up; all of it comes when the client reads.
    for index in 0..<400 {
      body.push(.event(choice: index, .failed(.cancelled(""))))
      bench.settle()
    }
    #expect(bench.connection.interest.contains(.write) && overflows.value == 0)
    #expect(bench.received().count > 400_000 && bench.connection.stage == .answering)
    for _ in 0..<2000 { body.push(.event(choice: 1, .failed(.cancelled("")))) }
    #expect(overflows.value == 1)
    bench.settle()
    #expect(bench.connection.stage == .closed && bench.service.finished.map(\.isWhole) == [false])
  }

  @Test func a_client_that_takes_nothing_is_dropped_in_time() throws {
    let bench = try Bench { $0.idleSeconds = 30 }
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
    let bench = try Bench { $0.keepAliveSeconds = 5 }
    bench.now = monotonicSeconds()
    bench.send("GET /a \(head)\r\n")
    bench.settle()
    let body = StreamBody(NumberEncoder(), maximumPending: 10) {}
    bench.service.waiting[0].reply(.stream([], body))
    bench.settle()
    _ = bench.received()
    bench.now += 4.9
    bench.connection.expire(bench.now)
    bench.settle()
    #expect(bench.received() == "")
    bench.now += 0.2
    bench.connection.expire(bench.now)
    bench.settle()
    #expect(bench.received() == "6\nalive\n\n")
  }

  @Test func time_runs_out_for_what_does_not_come() throws {
    let cases: [(String, Int?)] = [
      ("", nil), ("GET /", 408), ("POST /a \(head)Content-Length: 9\r\n\r\nabc", 408),
    ]
    for (text, status) in cases {
      let bench = try Bench()
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
    let bench = try Bench { $0.idleSeconds = 50 }
    bench.send("GET /quick \(head)\r\n")
    bench.settle()
    bench.wait(49)
    #expect(bench.connection.stage == .reading)
    bench.wait(2)
    #expect(bench.connection.stage == .closed)
  }

  @Test func a_client_that_closes_its_side_is_told_and_its_work_ends() throws {
    let bench = try Bench()
    bench.send("GET /quick \(head)\r\nGET /a \(head)\r\n")
    bench.endSending()
    bench.settle()
    #expect(bench.received() == ok("quick"))
    let wasCancelled = Box(false)
    bench.service.waiting[0].onGone { wasCancelled.value = true }
    bench.wait(1)
    #expect(wasCancelled.value && bench.received().hasPrefix("HTTP/1.1 499 ") && bench.connection.stage == .closed)
  }

  @Test func what_is_going_on_when_the_server_stops_is_answered() throws {
    let last = HTTPResponse(status: 503, type: "text/plain", body: [])
    for text in ["GET /a \(head)\r\n", "POST /a \(head)Content-Length: 9\r\n\r\nabc"] {
      let bench = try Bench()
      bench.send(text)
      bench.settle()
      bench.connection.stop(with: last, now: bench.now)
      #expect(bench.received().hasPrefix("HTTP/1.1 503 Service Unavailable\nConnection: close\n"))
      #expect(bench.connection.hasSaidAll)
    }
    let idle = try Bench()
    idle.connection.stop(with: last, now: idle.now)
    #expect(idle.received() == "" && idle.connection.hasSaidAll)
  }

  @Test func progress_is_the_start_of_a_part_or_another_second_of_a_slow_body() throws {
    let bench = try Bench { $0.bodyRate = 100 }
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

  @Test func half_a_request_that_makes_room_is_told_so() throws {
    for (text, status) in [("", nil), ("GET /", "408"), ("POST /a \(head)Content-Length: 9\r\n\r\nabc", "408")] {
      let bench = try Bench()
      if !text.isEmpty { bench.send(text) }
      bench.settle()
      bench.connection.giveUp(.room, bench.now)
      #expect(bench.connection.stage == .closed)
      #expect(bench.received().hasPrefix(status.map { "HTTP/1.1 \($0) " } ?? "") && bench.service.waiting.isEmpty)
      #expect(bench.service.finished.map(\.status) == (status == nil ? [] : [408]))
    }
  }

  @Test func no_header_value_ends_its_line() {
    var bytes: [UInt8] = []
    ResponseWriter.addHead(
      status: 200, headers: [HTTPHeader("x", "a\r\nSet-Cookie: b\u{0}")], framing: .length(0), AnswerRules(), to: &bytes
    )
    #expect(String(decoding: bytes, as: UTF8.self).contains("\r\nx: aSet-Cookie: b\r\n"))
  }
}

@Suite struct PollerTests {
  private static func all() throws -> [any Poller] { [PollPoller(), try #require(Pollers.make())] }

  @Test func every_poller_tells_what_was_asked_for() throws {
    for poller in try Self.all() {
      let (one, other) = try #require(Sockets.pair())
      poller.set(one, [.read])
      #expect(poller.wait(seconds: 0).isEmpty)
      poller.set(one, [.read, .write])
      #expect(poller.wait(seconds: 0).map { $0.canWrite && !$0.canRead } == [true])
      poller.set(one, [])
      var byte: UInt8 = 1
      withUnsafeBytes(of: &byte) { _ = Sockets.send(other, $0) }
      #expect(poller.wait(seconds: 0).isEmpty)
      poller.set(one, [.read])
      #expect(poller.wait(seconds: nil).map { $0.canRead && $0.socket == one } == [true])
      poller.remove(one)
      #expect(poller.wait(seconds: 0).isEmpty)
      poller.set(one, [])
      close(other)
      #expect(poller.wait(seconds: 1).map(\.isBroken) == [true])
      poller.remove(one)
      close(one)
    }
  }

  @Test func removing_one_leaves_the_others() throws {
    for poller in try Self.all() {
      let pairs = try (0..<5).map { _ in try #require(Sockets.pair()) }
      for pair in pairs { poller.set(pair.0, [.write]) }
      for index in [0, 3] { poller.remove(pairs[index].0) }
      #expect(Set(poller.wait(seconds: 0).map(\.socket)) == Set([1, 2, 4].map { pairs[$0].0 }))
      for pair in pairs { [pair.0, pair.1].forEach { close($0) } }
    }
  }
}
