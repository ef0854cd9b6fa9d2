// Queries of routers to a replica: its identity, its cached part of a prompt, and that asking changes nothing.
import Foundation
import PagodaKit
import PagodaMini
import PagodaServer
import Testing

@Suite(.ownThread) struct ReplicaTests {
  private static func start(keys: [String] = []) async throws -> (Engine, Server) {
    var options = EngineOptions()
    options.makesFingerprint = true
    let engine = try await Engine.load(.mini, options: options)
    var server = ServerOptions()
    server.port = 0
    server.modelNames = ["pagoda-mini"]
    server.modelPath = "mini"
    server.replicaName = "replica-1"
    server.apiKeys = keys
    return (engine, try Server.start(engine, options: server))
  }

  private static func conversation(_ turns: [String]) -> String {
    let messages = turns.enumerated().map { index, text in
      #"{"role":"\#(index % 2 == 0 ? "user" : "assistant")","content":\#(JSONValue.string(text).text)}"#
    }
    return #"{"messages":[\#(messages.joined(separator: ","))],"max_tokens":8,"temperature":0}"#
  }

  @Test func a_replica_describes_itself() async throws {
    let (engine, server) = try await Self.start()
    let (info, model) = (try server.get("/server_info").json, try server.get("/model_info").json)
    for value in [info, model] {
      #expect(value["version"] == .string(PagodaVersion.current) && value["replica"] == .string("replica-1"))
      #expect(value["model_path"] == .string("mini") && value["served_model_name"] == .string("pagoda-mini"))
      #expect(value["fingerprint"]?.stringValue == engine.info.fingerprint && engine.info.fingerprint != nil)
    }
    for path in ["/health", "/v1/models", "/nothing", "/"] {
      #expect(try server.get(path).headers["x-pagoda-replica"] == "replica-1", "\(path)")
    }
    #expect(info["status"] == .string("ok") && info["queue_length"] == .integer(0))
    #expect(model["max_model_len"] == .integer(Int64(engine.info.plan.maximumModelLength)))
    let again = try await Self.start()
    #expect(again.0.info.fingerprint == engine.info.fingerprint, "two engines of one model have one fingerprint")
    #expect(try await Shared.engine.info.fingerprint == nil, "only engines that were asked to pay for it")
    await server.shutDown()
    await again.1.shutDown()
    await again.0.shutDown()
    await engine.shutDown()
  }

  @Test func the_reported_prefix_is_the_one_that_the_next_request_finds() async throws {
    let (engine, server) = try await Self.start()
    let first = Self.conversation([Shared.questions[0] + " Say it in a sentence of many words, please."])
    let cold = try server.post("/v1/prefix", first).json
    #expect(cold["cached_tokens"] == .integer(0) && (cold["prompt_tokens"]?.intValue ?? 0) > 10)
    let answer = try server.chat(first)
    #expect(answer.headers["x-pagoda-replica"] == "replica-1")
    let second = Self.conversation([
      Shared.questions[0] + " Say it in a sentence of many words, please.", answer.answer ?? "", "And of Japan?",
    ])
    #expect(try await eventually { engine.statistics.running == 0 })
    let lookups = engine.statistics.prefixCache
    var found = try server.post("/v1/prefix", second).json
    for _ in 0..<20 { found = try server.post("/v1/prefix", second).json }
    #expect(engine.statistics.prefixCache == lookups, "asking leaves no trace")
    #expect((found["cached_tokens"]?.intValue ?? 0) > 0)
    #expect((found["matched_tokens"]?.intValue ?? 0) >= (found["cached_tokens"]?.intValue ?? 0))
    #expect((found["free_blocks"]?.intValue ?? 0) > 0 && found["queue_length"] == .integer(0))
    let usage = try server.chat(second).json["usage"]
    #expect(usage?["prompt_tokens_details"]?["cached_tokens"] == found["cached_tokens"])
    #expect(usage?["prompt_tokens"] == found["prompt_tokens"])
    await server.shutDown()
    await engine.shutDown()
  }

  @Test func every_kind_of_body_is_read_as_its_endpoint_reads_it() async throws {
    let server = try await Shared.server
    func count(_ body: String) throws -> JSONValue? { try server.post("/v1/prefix", body).json["prompt_tokens"] }
    let ids = try server.post("/tokenize", #"{"prompt":"Once upon a time"}"#).json
    #expect(try count(#"{"prompt":"Once upon a time"}"#) == ids["count"])
    #expect(try count(#"{"prompt":\#(ids["tokens"]?.text ?? "")}"#) == ids["count"])
    let chat = try count(Shared.chat("Hello!"))
    #expect(chat != nil)
    #expect(try count(#"{"input":"Hello!"}"#) == chat)
    #expect(try count(#"{"api":"messages","messages":[{"role":"user","content":"Hello!"}]}"#) == chat)
    for bad in [
      "{}", #"{"prompt":["a","b"]}"#, #"{"api":"x","prompt":"a"}"#, #"{"prompt":[-1]}"#, #"{"messages":[]}"#,
      #"{"api":"completions","prompt":"a","messages":[{"role":"user","content":"Hello!"}]}"#,
    ] {
      let response = try server.post("/v1/prefix", bad)
      #expect(response.status == 400 && response.error["param"] != nil, "\(bad)")
    }
  }

  @Test func keys_and_salts_see_only_their_own_prefixes() async throws {
    let (engine, server) = try await Self.start(keys: ["one", "two"])
    let body = Self.conversation(["Tell me about the long river that runs through the town, and its bridges."])
    func post(_ key: String?, _ body: String, at path: String = "/v1/prefix") throws -> HTTPClient.Response {
      try server.post(path, body, headers: key.map { ["Authorization": "Bearer \($0)"] } ?? [:])
    }
    #expect(try post("one", body, at: "/v1/chat/completions").status == 200)
    #expect(try await eventually { engine.statistics.running == 0 })
    #expect((try post("one", body).json["matched_tokens"]?.intValue ?? 0) > 0)
    #expect(try post("two", body).json["matched_tokens"] == .integer(0))
    let salted = body.replacingOccurrences(of: #""max_tokens""#, with: #""cache_salt":"x","max_tokens""#)
    #expect(try post("one", salted).json["matched_tokens"] == .integer(0))
    #expect(try post(nil, body).status == 401)
    // Without a key a router learns the name of the model, and no load or version.
    for path in ["/server_info", "/model_info"] { #expect(try server.get(path).json["version"] == nil, "\(path)") }
    await server.shutDown()
    await engine.shutDown()
  }

  @Test func another_version_is_refused_by_name() async throws {
    let (engine, server) = try await Self.start()
    let body = Shared.chat("Hello!", #","max_tokens":2"#)
    for path in ["/v1/prefix", "/v1/chat/completions"] {
      let other = try server.post(path, body, headers: ["x-pagoda-expect-version": "9.9.9"])
      #expect(other.status == 412 && other.error["code"] == .string("version_mismatch"))
      let message = other.error["message"]?.stringValue ?? ""
      #expect(message.contains("'9.9.9'") && message.contains("'\(PagodaVersion.current)'"))
      let numbers = try server.post(path, body, headers: ["x-pagoda-expect-fingerprint": "probe 0"])
      #expect(numbers.status == 412 && numbers.error["code"] == .string("fingerprint_mismatch"))
      let same = [
        "x-pagoda-expect-version": PagodaVersion.current, "x-pagoda-expect-fingerprint": engine.info.fingerprint!,
      ]
      #expect(try server.post(path, body, headers: same).status == 200)
    }
    await server.shutDown()
    await engine.shutDown()
  }

  @Test func session_hints_are_accepted_and_change_nothing() async throws {
    let server = try await Shared.server
    let plain = try server.chat(Shared.chat("Hello!", #","temperature":0,"max_tokens":6"#))
    let hinted = try server.post(
      "/v1/chat/completions", Shared.chat("Hello!", #","temperature":0,"max_tokens":6,"prompt_cache_key":"chat-7""#),
      headers: ["x-session-id": "chat-7"])
    #expect(hinted.status == 200 && hinted.answer == plain.answer)
    #expect(hinted.headers["x-pagoda-ignored-fields"] == nil && plain.headers["x-pagoda-replica"] == nil)
  }
}
