// Large bodies, and bodies of many small parts, cost one sender's time and not that of the others.
import Foundation
import PagodaKit
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct LargeBodyTests {
  @Test func senders_of_large_bodies_take_turns() throws {
    let started = Box<[@Sendable () -> Void]>([])
    let order = Box<[String]>([])
    let bodies = LargeBodies(maximumRunning: 2) { started.value += [$0] }
    for name in ["a1", "a2", "a3", "a4", "b1", "c1", "b2"] {
      bodies.add(from: String(name.prefix(1))) { order.value += [name] }
    }
    #expect(started.value.count == 2, "no more than two at a time")
    while !started.value.isEmpty { started.value.removeFirst()() }
    #expect(order.value == ["a1", "a2", "a3", "b1", "c1", "a4", "b2"], "\(order.value)")
  }

  /// Holds the work on large bodies until it is released; answers everything else.
  private final class HoldingService: HTTPService, @unchecked Sendable {
    let gate = DispatchSemaphore(value: 0)
    let held = Box(0)

    func action(for request: HTTPRequest) -> HTTPAction {
      .work { [self] exchange in
        if exchange.isLarge {
          held.value += 1
          gate.wait()
        }
        exchange.reply(.whole(HTTPResponse(type: "text/plain", body: Array("done".utf8))))
      }
    }
    func sender(of request: HTTPRequest) -> String { "one" }
    func bodyTooLarge(_ request: HTTPRequest) -> HTTPResponse { .empty }
    func refusal(of request: HTTPRequest, _ error: FramingError) -> HTTPResponse { .empty }
    func headers(for exchange: Exchange) -> [HTTPHeader] { [] }
    func finished(_ exchange: Exchange) {}
  }

  @Test func small_requests_are_answered_while_large_ones_fill_their_places() async throws {
    let service = HoldingService()
    let http = HTTPServer(service, limits: HTTPLimits())
    try http.start(host: "127.0.0.1", port: 0)
    let large = String(repeating: "x", count: LargeBodies.bytes)
    let count = 2 * max(2, ProcessInfo.processInfo.activeProcessorCount)
    let waiting = try (0..<count).map { _ in
      let client = try HTTPClient(host: "127.0.0.1", port: http.port, timeout: 600)
      try client.request("POST", "/", body: large)
      return client
    }
    #expect(try await eventually { service.held.value == count / 4 })
    let client = try HTTPClient(host: "127.0.0.1", port: http.port, timeout: 600)
    try client.request("POST", "/", body: "small")
    #expect(try client.response().text == "done")
    #expect(service.held.value == count / 4, "half of the workers")
    for _ in waiting { service.gate.signal() }
    for client in waiting { #expect(try client.response().text == "done") }
    http.stop(cutWith: .empty)
  }

  @Test func a_body_of_too_many_parts_is_refused_by_their_number() async throws {
    let server = try await Shared.server
    let fields = (0..<2000).map { "\"k\($0)\":0" }.joined(separator: ",")
    let response = try server.chat(Shared.chat("Hello!", ",\(fields)"))
    #expect(response.status == 400)
    #expect(response.error["message"]?.stringValue?.hasPrefix("the body has more than 1000 fields") == true)
    #expect(try server.chat(Shared.chat(Shared.questions[0])).status == 200)
  }

  @Test func parts_are_counted_by_their_kind() throws {
    var limits = JSONValue.Limits()
    (limits.fields, limits.members, limits.values) = (3, 5, 8)
    func message(_ text: String) -> String? {
      do {
        _ = try JSONValue.parse(Array(text.utf8), limits: limits)
        return nil
      } catch {
        #expect(error.isTooMuch)
        return error.message
      }
    }
    #expect(message(#"{"a":{"b":1,"c":2},"d":[0,0]}"#) == nil)
    #expect(message(#"{"a":1,"b":1,"c":1,"d":1}"#) == "more than 3 fields")
    #expect(message(#"{"a":{"b":1,"c":2,"d":3,"e":4,"f":5}}"#) == "more than 5 members in its objects")
    #expect(message("[0,0,0,0,0,0,0,0]") == "more than 8 values")
  }

  @Test func names_of_a_large_object_occur_once() throws {
    for count in [1, 7, 8, 9, 20] {
      let members = (0..<count).map { "\"k\($0)\":\($0)" }
      let text = "{" + members.joined(separator: ",") + "}"
      #expect(try JSONValue.parse(Array(text.utf8)).objectValue?.count == count)
      for index in 0..<count {
        let twice = "{" + (members + [members[index]]).joined(separator: ",") + "}"
        #expect(throws: JSONValue.ParseError.self) { try JSONValue.parse(Array(twice.utf8)) }
      }
    }
    #expect(JSONValue.parse(#""\u00e9\u00E9\ud83d\ude00""#) == .string("éé😀"))
    for wrong in [#""\u00g0""#, #""\u00""#, #""\u+123""#, #""\ud83d""#] { #expect(JSONValue.parse(wrong) == nil) }
  }
}
