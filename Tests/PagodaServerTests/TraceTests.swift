// traceparent: which headers are valid, what is passed on, and that spans never hold up the server.
import Foundation
import PagodaKit
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct TraceTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let span = "00f067aa0ba902b7"

  private func context(_ values: [String], always: Bool = false, state: [String] = []) -> TraceContext? {
    let headers = values.map { HTTPHeader("traceparent", $0) } + state.map { HTTPHeader("tracestate", $0) }
    return TraceContext(HTTPRequest(method: "GET", path: "/", headers: headers), always: always)
  }

  @Test func headers_are_read_as_w3c_says() throws {
    let found = try #require(context(["00-\(Self.trace)-\(Self.span)-01"], state: ["a=1", "b=2"]))
    #expect(found.traceID == Self.trace && found.parentID == Self.span && found.isSampled)
    #expect(found.spanID != Self.span && found.spanID.utf8.count == 16 && found.state == "a=1,b=2")
    #expect(found.requestHeaders["traceparent"] == "00-\(Self.trace)-\(found.spanID)-01")
    #expect(found.requestHeaders["tracestate"] == "a=1,b=2")
    #expect(context(["00-\(Self.trace)-\(Self.span)-00"])?.isSampled == false)
    #expect(context(["00-\(Self.trace)-\(Self.span)-03"])?.isSampled == true)
    #expect(context(["cc-\(Self.trace)-\(Self.span)-01-what-the-future-holds"]) != nil, "a later version")
    for bad in [
      "", "00", "00-\(Self.trace)-\(Self.span)", "00-\(Self.trace)-\(Self.span)-01-more",
      "ff-\(Self.trace)-\(Self.span)-01", "00-\(Self.trace.uppercased())-\(Self.span)-01",
      "00-\(String(repeating: "0", count: 32))-\(Self.span)-01", "00-\(Self.trace)-0000000000000000-01",
      "00-\(Self.trace)x-\(Self.span)-01", "00-\(Self.trace)-\(Self.span)-0g", "00_\(Self.trace)_\(Self.span)_01",
    ] {
      #expect(context([bad]) == nil, "\(bad)")
      #expect(context([bad], always: true, state: ["a=1"])?.state == nil, "a new trace has no old state")
    }
    #expect(context(["00-\(Self.trace)-\(Self.span)-01", "00-\(Self.trace)-\(Self.span)-01"]) == nil)
    let own = try #require(context([], always: true))
    #expect(own.parentID == nil && own.isSampled && own.responseHeader == nil)
  }

  @Test func a_client_that_sends_a_context_gets_the_servers_span() async throws {
    let server = try await Shared.server
    let response = try server.get("/health", headers: ["traceparent": "00-\(Self.trace)-\(Self.span)-01"])
    let parts = (response.headers["traceresponse"] ?? "").split(separator: "-")
    #expect(parts.count == 4 && parts[1] == Self.trace && parts[2] != Self.span)
    #expect(try server.get("/health").headers["traceresponse"] == nil)
    #expect(try server.get("/health", headers: ["traceparent": "00-1-2-3"]).headers["traceresponse"] == nil)
  }

  @Test func a_collector_that_is_gone_or_stalls_costs_no_request() async throws {
    let (_, port) = try Self.stalledListener()
    let server = try await Shared.start { $0.traceEndpoint = "http://127.0.0.1:\(port)" }
    for _ in 0..<50 { #expect(try server.get("/health").status == 200) }
    await server.shutDown()
    let gone = try await Shared.start { $0.traceEndpoint = "http://127.0.0.1:1" }
    #expect(try gone.get("/health").status == 200)
    #expect(
      try await eventually { (try? gone.get("/metrics").text.contains("pagoda:spans_dropped_total 0\n")) == false })
    await gone.shutDown()
    for bad in ["https://host:4318", "host:4318", "http://", "http://host:99999"] {
      await #expect(throws: ServerError.self) { _ = try await Shared.start { $0.traceEndpoint = bad } }
    }
  }

  /// Connections succeed, and nothing is ever read.
  private static func stalledListener() throws -> (socket: Int32, port: UInt16) {
    let listener = try SocketAddress.resolve(host: "127.0.0.1", port: 0).listener()
    return (listener, SocketAddress.port(of: listener))
  }
}
