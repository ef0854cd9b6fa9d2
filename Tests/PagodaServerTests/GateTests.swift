// Clients that violate HTTP: how the server handles them.
import Foundation
import PagodaKit
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct GateTests {
  private static let head =
    "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
  private static let get = "GET /health HTTP/1.1\r\nHost: localhost\r\n"
  private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"
  private static let cases: [(String, Int, String)] = [
    (head + "\r\n", 411, "length_required"), (head + "Content-Length: abc\r\n\r\n{}", 400, "bad_framing"),
    (head + "Content-Length: 99999999999999999999999\r\n\r\n{}", 413, "request_too_large"),
    (head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400, "bad_framing"),
    (head + "Transfer-Encoding: gzip\r\n\r\n{}", 501, "unsupported_transfer_coding"),
    (chunked + "-2\r\n{}\r\n", 400, "bad_framing"), (chunked + "2\r\n{}\r\nzz\r\n{}\r\n", 400, "bad_framing"),
    (chunked + "fffffffffffff\r\n", 413, "request_too_large"), ("nonsense\r\n\r\n", 400, "bad_framing"),
    (get + String(repeating: "x: 1\r\n", count: 100) + "\r\n", 431, "headers_too_large"),
    (get + "x: \(String(repeating: "a", count: 200_000))\r\n\r\n", 431, "headers_too_large"),
    ("GET /\(String(repeating: "a", count: 200_000)) HTTP/1.1\r\n", 414, "uri_too_long"),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "http_version_not_supported"),
    ("GET /health HTTP/1.1\r\n\r\n", 400, "bad_host"),
  ]

  private func check(_ client: HTTPClient, _ status: Int, _ code: String, _ comment: Comment) throws {
    let response = try client.response()
    #expect(response.status == status && response.headers["content-type"] == "application/json", comment)
    #expect(response.error["code"]?.stringValue == code, comment)
    #expect(response.error["message"]?.stringValue?.isEmpty == false, comment)
  }

  @Test func broken_requests_get_the_right_error_and_the_next_one_works() async throws {
    let server = try await Shared.server
    for (text, status, code) in Self.cases {
      let client = try server.client()
      try client.send(text)
      try check(client, status, code, "\(text.prefix(200))")
      #expect(try server.get("/health").status == 200)
    }
  }

  @Test func the_error_follows_earlier_answers() async throws {
    let server = try await Shared.server
    let client = try server.client()
    try client.request("POST", "/v1/chat/completions", body: Shared.chat(Shared.questions[0], ",\"stream\":true"))
    try client.send(Self.get + "\r\n" + Self.chunked + "-2\r\n" + Self.get + "\r\n")
    #expect(try client.response().streamedAnswer.contains("Paris"))
    #expect(try client.response().json["status"]?.stringValue == "ok")
    try check(client, 400, "bad_framing", "third")
    #expect(throws: ServerError.self) { try client.response() }
  }

  @Test func broken_requests_for_anthropic_have_its_shape_and_are_counted() async throws {
    let lines = Box<[String]>([])
    let server = try await Shared.start { $0.accessLog = { lines.value += [$0] } }
    let client = try server.client()
    try client.send("POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n")
    #expect(try client.response().json["type"]?.stringValue == "error")
    #expect(try await eventually { server.load.connections == 0 })
    #expect(try server.get("/metrics").text.contains("pagoda:http_responses_total{status=\"400\"} 1"))
    await server.shutDown()
    #expect(lines.value.contains { $0.hasPrefix("POST /v1/messages 400 ") }, "\(lines.value)")
  }

  @Test func requests_that_stop_half_way_are_refused() async throws {
    let patient = try await Shared.start {
      $0.headerSeconds = 600
      $0.bodySeconds = 600
    }
    let strict = try await Shared.start {
      $0.headerSeconds = 5
      $0.bodySeconds = 5
    }
    func send(_ part: String, to server: Server) throws -> HTTPClient {
      let client = try server.client()
      try client.send(part)
      return client
    }
    let parts = ["GET /hea", Self.get, Self.head + "Content-Length: 9\r\n\r\n{", Self.chunked + "2\r\n{}\r\n"]
    let dawdlers = try parts.map { try send($0, to: strict) }
    let silent = try strict.client()
    for part in parts {
      let leaver = try send(part, to: patient)
      leaver.closeWriting()
      try check(leaver, 400, "incomplete_request", "\(part)")
    }
    for (part, dawdler) in zip(parts, dawdlers) { try check(dawdler, 408, "request_timeout", "\(part)") }
    let error = #expect(throws: ServerError.self) { try silent.response() }
    #expect(error?.message == "the connection ended", "closed without a response")
    await patient.shutDown()
    await strict.shutDown()
  }

  @Test func a_body_far_above_the_limit_is_refused_before_it_ends() async throws {
    let server = try await Shared.start { $0.maximumBodyBytes = 10_000 }
    let client = try server.client()
    // All at once: the server answers in the middle, and some seconds later it closes the connection.
    let chunk = "400\r\n\(String(repeating: "x", count: 1024))\r\n"
    try client.send(Self.chunked + String(repeating: chunk, count: 40))
    try check(client, 413, "request_too_large", "chunks without an end")
    await server.shutDown()
  }

}
