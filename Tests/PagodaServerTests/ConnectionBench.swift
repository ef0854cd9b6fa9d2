// ConnectionBench: a connection without a server: bytes are sent over a socket pair, and time is simulated.
import Foundation
import Testing

@testable import PagodaServer

/// Answers `/quick` at once; keeps the exchanges of everything else for the test to answer.
final class FakeService: HTTPService, @unchecked Sendable {
  var waiting: [Exchange] = []
  var finished: [(path: String, status: Int, isWhole: Bool)] = []

  func action(for request: HTTPRequest) -> HTTPAction {
    switch request.path {
    case "/quick": .respond(HTTPResponse(type: "text/plain", body: Array("quick".utf8)))
    case "/refuse": .refuse(HTTPResponse(status: 403, type: "text/plain", body: []))
    default: .work { [unowned self] in waiting.append($0) }
    }
  }
  func sender(of request: HTTPRequest) -> String { request.values("x-sender").first ?? "" }
  func bodyTooLarge(_ request: HTTPRequest) -> HTTPResponse { HTTPResponse(status: 413, type: "text/plain", body: []) }
  func refusal(of request: HTTPRequest, _ error: FramingError) -> HTTPResponse {
    HTTPResponse(status: error.status, type: "text/plain", body: [])
  }
  func headers(for exchange: Exchange) -> [HTTPHeader] { [] }
  func finished(_ exchange: Exchange) { finished.append((exchange.head.path, exchange.status, exchange.isWhole)) }
}

/// Numbers as lines; the keep-alive and the end are special words.
struct NumberEncoder: StreamEncoder {
  mutating func opening() -> String { "begin\n" }
  mutating func encode(_ item: StreamItem) -> (text: String, isLast: Bool) {
    switch item {
    case .event(let choice, _): (String(repeating: "\(choice % 10)", count: 1000) + "\n", false)
    case .keepAlive: ("alive\n", false)
    case .text(let text): (text, false)
    case .cut(let reason): (reason.code == "client_too_slow" ? "too slow\n" : "end\n", true)
    }
  }
}

/// A client and its connection. Everything happens on the test's thread.
final class ConnectionBench {
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
    ) { $1() }
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

/// The rest of a request line, and the host.
let head = "HTTP/1.1\r\nHost: x\r\n"
/// A text response as a client sees it.
func ok(_ body: String, _ more: String = "") -> String {
  "HTTP/1.1 200 OK\n\(more)Content-Type: text/plain\nContent-Length: \(body.utf8.count)\n\n\(body)"
}
func whole(_ body: String) -> HTTPReply { .whole(HTTPResponse(type: "text/plain", body: Array(body.utf8))) }
