// Classes of requests: no request runs before its key's class, and batches run after everything else.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct PriorityTests {
  private func bearer(_ key: String) -> [String: String] { ["Authorization": "Bearer \(key)"] }

  @Test func batches_run_after_all_requests_whatever_the_values() {
    var keys = ["urgent", "plain", "late"].map { APIKey(name: $0, key: $0) }
    (keys[0].priority, keys[2].priority) = (-2_000_000, Int(Int32.max))
    let guarding = Guard(keys: keys, isLoopbackOnly: true)
    func priority(_ key: String, _ asked: Int, isBatch: Bool) -> Int {
      let header = HTTPHeader("authorization", "Bearer \(key)")
      var request = HTTPRequest(method: "POST", path: "/v1/chat/completions", headers: [header])
      request.isBatch = isBatch
      return guarding.priority(of: request, asked)
    }
    let values = [Int(Int32.min), -5, 0, 5, Int(Int32.max)]
    let alone = keys.flatMap { key in values.map { priority(key.name, $0, isBatch: false) } }
    let batches = keys.flatMap { key in values.map { priority(key.name, $0, isBatch: true) } }
    #expect(alone.max()! < batches.min()! && batches.max()! <= Int(Int32.max), "\(alone) \(batches)")
    #expect(priority("urgent", -5, isBatch: false) == -5 && priority("plain", -5, isBatch: false) == 0)
    #expect(priority("plain", 5, isBatch: false) == 5)
    #expect(priority("plain", 5, isBatch: true) > priority("plain", 0, isBatch: true))
  }

  /// One place in the engine, taken by a third key. The vectors of a key with a later class were asked for first.
  @Test(arguments: [
    ("/v1/embeddings", #"{"input":"Hello!"}"#, 1), ("/v1/rerank", #"{"query":"a","documents":["b"]}"#, 2),
  ])
  func vectors_have_the_class_of_their_key(_ path: String, _ body: String, _ inputs: Int) async throws {
    var engineOptions = EngineOptions()
    engineOptions.maximumSequences = 1
    let engine = try await Engine.load(.mini, options: engineOptions)
    var options = ServerOptions()
    options.port = 0
    options.namedKeys = ["holder", "late", "plain"].map { APIKey(name: $0, key: $0) }
    options.namedKeys[1].priority = 5
    let lines = Box<[String]>([])
    options.structuredLog = { lines.value += [$0] }
    let server = try Server.start(engine, options: options)
    // After ten seconds of waiting classes do not matter any more, so a slow machine tries again.
    for _ in 0..<10 {
      lines.value = []
      let seconds = try await answer(path, body, inputs, server, engine)
      #expect(try await eventually { lines.value.count == 3 })
      if seconds > 8 { continue }
      let answered = lines.value.compactMap { JSONValue.parse($0)?["key"]?.stringValue }.filter { $0 != "holder" }
      #expect(answered == ["plain", "late"])
      break
    }
    await server.shutDown(drainSeconds: 0)
    await engine.shutDown()
  }

  /// Returns the seconds until both were answered.
  private func answer(
    _ path: String, _ body: String, _ inputs: Int, _ server: Server, _ engine: Engine
  ) async throws -> Double {
    let (lateKey, plainKey) = (bearer("late"), bearer("plain"))
    let holder = try server.client()
    try holder.request("POST", "/v1/chat/completions", headers: bearer("holder"), body: Shared.endless())
    #expect(try await eventually { engine.statistics.running == 1 })
    let begin = monotonicSeconds()
    let late = background { try server.post(path, body, headers: lateKey).status }
    #expect(try await eventually { engine.statistics.waiting == inputs })
    let plain = background {
      try server.post("/v1/chat/completions", Shared.chat("Hello!", ",\"max_tokens\":5"), headers: plainKey).status
    }
    #expect(try await eventually { engine.statistics.waiting == inputs + 1 })
    holder.close()
    #expect(try await late.value == 200)
    #expect(try await plain.value == 200)
    return monotonicSeconds() - begin
  }

  @Test func a_class_that_is_no_number_is_refused() async throws {
    let server = try await Shared.server
    for (path, fields) in [
      ("/v1/chat/completions", #""messages":[{"role":"user","content":"a"}],"max_tokens":1"#),
      ("/v1/completions", #""prompt":"a","max_tokens":1"#), ("/v1/responses", #""input":"a","max_output_tokens":1"#),
      ("/v1/embeddings", #""input":"a""#), ("/v1/rerank", #""query":"a","documents":["b"]"#),
    ] {
      for value in ["\"5\"", "1.5", "true", "[]", "2147483648", "-2147483649"] {
        let answer = try server.post(path, "{\(fields),\"priority\":\(value)}")
        #expect(answer.status == 400 && answer.error["param"]?.stringValue == "priority", "\(path) \(value)")
      }
      for value in ["0", "-1", "2147483647", "-2147483648", "null"] {
        #expect(try server.post(path, "{\(fields),\"priority\":\(value)}").status == 200, "\(path) \(value)")
      }
    }
  }
}
