// Constraints are compiled apart from the other work: keys take turns, the queue is bounded, other requests do not wait.
import Foundation
import PagodaKit
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct GrammarPoolTests {
  /// Occupies the pool's only thread until `open` is called.
  private final class Gate: @unchecked Sendable {
    private let (begun, opened) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

    init(_ pool: GrammarPool) throws {
      try pool.add(key: "gate") { [begun, opened] in
        begun.signal()
        opened.wait()
      }
      begun.wait()
    }

    func open() { opened.signal() }
  }

  private final class Names: @unchecked Sendable {
    private let lock = NSLock()
    private var names: [String] = []
    func add(_ name: String) { lock.withLock { names.append(name) } }
    var all: [String] { lock.withLock { names } }
  }

  @Test func keys_take_turns() throws {
    let pool = GrammarPool(threads: 1)
    let gate = try Gate(pool)
    let (names, done) = (Names(), DispatchSemaphore(value: 0))
    for (key, name) in [("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("c", "c1"), ("b", "b2")] {
      try pool.add(key: key) {
        names.add(name)
        done.signal()
      }
    }
    gate.open()
    for _ in 0..<6 { done.wait() }
    #expect(names.all == ["a1", "b1", "c1", "a2", "b2", "a3"])
  }

  @Test func a_full_queue_refuses_and_one_key_cannot_fill_it() throws {
    let pool = GrammarPool(threads: 1)
    let gate = try Gate(pool)
    let done = DispatchSemaphore(value: 0)
    func add(_ key: String) throws { try pool.add(key: key) { done.signal() } }
    for _ in 0..<GrammarPool.maximumWaitingPerKey { try add("a") }
    #expect(throws: APIError.self) { try add("a") }
    for i in GrammarPool.maximumWaitingPerKey..<GrammarPool.maximumWaiting { try add("key \(i)") }
    do {
      try add("other")
      Issue.record("the queue has no limit")
    } catch let error as APIError {
      #expect(error.status == 429 && error.retryAfter != nil)
    }
    gate.open()
    for _ in 0..<GrammarPool.maximumWaiting { done.wait() }
    try add("a")
    done.wait()
  }

  @Test func requests_without_a_new_constraint_do_not_wait_for_one() async throws {
    let server = try await Shared.start()
    @Sendable func format(_ name: String) -> String {
      #","max_tokens":40,"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":"#
        + #"{"type":"object","properties":{"\#(name)":{"const":1}},"required":["\#(name)"]}}}"#
    }
    let known = Shared.chat("Hello!", format("known"))
    func member(_ response: HTTPClient.Response, _ name: String) -> JSONValue? {
      JSONValue.parse(response.answer ?? "")?[name]
    }
    #expect(member(try server.chat(known), "known") == .integer(1))
    let pool = try #require(server.front.host?.grammars)
    var gates = [try Gate(pool)]
    if ProcessInfo.processInfo.activeProcessorCount > 4 { gates.append(try Gate(pool)) }
    let waiting = (0..<4).map { i in background { try server.chat(Shared.chat("Hello!", format("new\(i)"))) } }
    let refused = background { try server.chat(Shared.chat("Hello!", #","guided_regex":"(a""#)) }
    #expect(try await eventually { pool.waitingCount == 5 })
    #expect(try server.chat(Shared.chat("Hello!", #","max_tokens":3"#)).status == 200)
    #expect(member(try server.chat(known), "known") == .integer(1))
    #expect(pool.waitingCount == 5)
    for gate in gates { gate.open() }
    for (i, task) in waiting.enumerated() { #expect(member(try await task.value, "new\(i)") == .integer(1)) }
    #expect(try await refused.value.error["param"]?.stringValue == "guided_regex")
    await server.shutDown()
  }
}
