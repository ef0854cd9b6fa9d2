// The stream of step events: lanes of requests while a client watches, nothing recorded while none does.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct DescriptionTests {
  @Test func every_route_is_in_the_description() async throws {
    let paths = try #require(try await Shared.server.get("/openapi.json").json["paths"]?.objectValue)
    let described = Dictionary(
      uniqueKeysWithValues: paths.map { ($0.key, Set(($0.value.objectValue ?? []).map(\.key))) })
    for (path, methods) in Service.routes where PageFile.all[path] == nil {
      for method in methods.keys {
        #expect(described[path]?.contains(method.lowercased()) == true, "\(method) \(path)")
      }
    }
  }

  @Test func every_field_that_is_read_is_in_the_description() async throws {
    let schemas = try await Shared.server.get("/openapi.json").json["components"]?["schemas"]
    let tables: [String: FieldTable] = [
      "ChatRequest": .chat, "CompletionRequest": .completions, "ResponsesRequest": .responses,
      "MessagesRequest": .messages, "CountTokensRequest": .countTokens, "EmbeddingRequest": .embeddings,
      "RerankRequest": .rerank, "OllamaChatRequest": .ollamaChat, "OllamaGenerateRequest": .ollamaGenerate,
    ]
    for (name, table) in tables {
      let described = Set((schemas?[name]?["properties"]?.objectValue ?? []).map(\.key))
      #expect(table.known.subtracting(described) == [], "not described: \(name)")
      #expect(described.subtracting(table.known.union(table.ignored)) == [], "not read: \(name)")
    }
  }
}

@Suite(.ownThread) struct StatusTests {
  /// Reads events until one satisfies the condition, and returns it; nil if the stream ends first.
  private func firstEvent(
    of server: Server, where isWanted: @escaping @Sendable (JSONValue) -> Bool
  ) throws -> JSONValue? {
    struct Found: Error { var event: JSONValue }
    let client = try server.client()
    try client.request("GET", "/status/events")
    var held: [UInt8] = []
    do {
      let response = try client.response(keepsBody: false) { bytes in
        held += bytes
        while let end = held.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: held[..<end], as: UTF8.self)
          held.removeFirst(end + 1)
          guard line.hasPrefix("data: "), let event = JSONValue.parse(String(line.dropFirst(6))) else { continue }
          if isWanted(event) { throw Found(event: event) }
        }
      }
      #expect(response.status == 200)
      return nil
    } catch let found as Found {
      return found.event
    }
  }

  @Test func a_lane_shows_what_a_request_does_until_it_ends() async throws {
    let engine = try await Engine.load(.mini)
    var options = ServerOptions()
    options.port = 0
    let server = try Server.start(engine, options: options)
    let feed = try #require(server.statusFeed)
    #expect(!feed.isRecording)
    let asking = try server.client()
    try asking.request("POST", "/v1/chat/completions", body: Shared.endless())
    let found = try await background {
      try firstEvent(of: server) {  // lanes and numbers are read one after the other
        ($0["lanes"]?.arrayValue ?? []).contains { $0["state"]?.stringValue == "answering" }
          && $0["running"]?.intValue == 1
      }
    }.value
    let event = try #require(found)
    let lane = try #require(event["lanes"]?.arrayValue?.first)
    #expect(event["lanes"]?.arrayValue?.count == 1 && event["running"]?.intValue == 1)
    #expect((lane["prompt"]?.intValue ?? 0) > 0 && (lane["generated"]?.intValue ?? 0) > 0)
    #expect((lane["computed"]?.intValue ?? 0) >= (lane["prompt"]?.intValue ?? 0))
    #expect((event["blocks"]?.intValue ?? 0) > (event["free_blocks"]?.intValue ?? 0))
    asking.close()
    let idle = try await background {
      try firstEvent(of: server) { $0["running"]?.intValue == 0 && $0["lanes"]?.arrayValue?.isEmpty == true }
    }.value
    #expect(idle != nil)
    #expect(try await eventually { !feed.isRecording })
    await server.shutDown()
    await engine.shutDown()
  }

  @Test func steps_report_the_requests_they_read_and_answered() async throws {
    let engine = try await Engine.load(.mini)  // a separate one: in the shared one, steps answer others too
    var options = ServerOptions()
    options.port = 0
    let server = try Server.start(engine, options: options)
    let watching = background {
      try firstEvent(of: server) { ($0["steps"]?.arrayValue ?? []).contains { $0["answering"]?.intValue == 1 } }
    }
    #expect(try await eventually { server.statusFeed?.isRecording == true })
    let asking = background { try server.chat(Shared.chat("Hello!", #","ignore_eos":true,"max_tokens":1500"#)) }
    let steps = try #require(try await watching.value?["steps"]?.arrayValue)
    let numbers = steps.compactMap { $0["step"]?.intValue }
    #expect(numbers == Array((numbers.first ?? 0)...(numbers.last ?? 0)))
    #expect(steps.allSatisfy { ($0["us"]?.intValue ?? 0) > 0 })
    #expect(try await asking.value.status == 200)
    await server.shutDown()
    await engine.shutDown()
  }

  @Test func clients_that_watch_are_limited_and_do_not_hold_up_the_end() async throws {
    let server = try await Shared.start()
    let clients = try (0..<StatusFeed.maximumClients).map { _ in
      let client = try server.client()
      try client.request("GET", "/status/events")
      return client
    }
    #expect(try await eventually { server.statusFeed?.clientCount == clients.count })
    #expect(try server.get("/status/events").status == 429)
    clients[0].close()
    #expect(try await eventually { server.statusFeed?.clientCount == clients.count - 1 })
    await server.shutDown(drainSeconds: 600)  // would time out if the streams counted as answers to wait for
    #expect(server.statusFeed?.clientCount == 0)
  }

  @Test func a_question_for_the_headers_alone_begins_no_stream() async throws {
    let server = try await Shared.start()
    let client = try server.client()
    try client.request("HEAD", "/status/events")
    let response = try client.response(isHead: true)
    #expect(response.status == 200 && response.headers["content-type"]?.hasPrefix("text/event-stream") == true)
    #expect(server.statusFeed?.clientCount == 0)
  }
}
