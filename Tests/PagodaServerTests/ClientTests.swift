// Clients that disconnect, are slow or do not read do not affect others; a full or closing server reports that.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@testable import PagodaServer

@Suite(.serialized, .ownThread) struct ClientTests {
  /// A separate engine and server, so that nothing else is counted.
  private func withServer(
    _ change: (inout ServerOptions) -> Void = { _ in }, _ body: (Server, Engine) async throws -> Void
  ) async throws {
    var engineOptions = EngineOptions()
    engineOptions.maximumSequences = 4
    let engine = try await Engine.load(.mini, options: engineOptions)
    var options = ServerOptions()
    options.port = 0
    change(&options)
    let server = try Server.start(engine, options: options)
    try await body(server, engine)
    await server.shutDown(drainSeconds: 0)
    await engine.shutDown()
  }

  @Test(arguments: [true, false]) func a_disconnect_frees_blocks_and_slots(_ stream: Bool) async throws {
    try await withServer { server, engine in
      let (blocks, slots) = (engine.statistics.freeBlocks, engine.statistics.freeStateSlots)
      // Six requests for four slots: the last two clients disconnect while they wait.
      var clients = try (0..<6).map { _ in try server.client() }
      for client in clients { try client.request("POST", "/v1/chat/completions", body: Shared.endless(stream: stream)) }
      #expect(try await eventually { engine.statistics.running == 4 && engine.statistics.waiting == 2 })
      let other = background { try server.chat(Shared.chat(Shared.questions[0])) }
      for client in clients { client.close() }
      clients = []
      #expect(try await other.value.answer?.contains("Paris") == true)
      #expect(try await eventually { engine.statistics.running == 0 && engine.statistics.waiting == 0 })
      #expect(engine.statistics.freeBlocks == blocks && engine.statistics.freeStateSlots == slots)
      #expect(try await eventually { server.load.isIdle && server.load.connections == 0 })
    }
  }

  @Test func only_the_request_of_the_client_that_left_is_cancelled() async throws {
    try await withServer { server, engine in
      let leaver = try server.client()
      let whole = try server.chat(Shared.chat(Shared.questions[4])).answer
      try leaver.request("POST", "/v1/chat/completions", body: Shared.endless())
      #expect(try await eventually { engine.statistics.running == 1 })
      let stayer = background { try server.chat(Shared.chat(Shared.questions[4], ",\"stream\":true")) }
      leaver.close()
      #expect(try await stayer.value.streamedAnswer == whole)
    }
  }

  @Test func a_client_that_does_not_read_is_dropped() async throws {
    try await withServer {
      $0.pendingEvents = 64
    } _: { server, engine in
      let client = try server.client()
      // Log probabilities make events large, so that the system's buffers fill up as well.
      let more = #","stream":true,"ignore_eos":true,"max_tokens":8000,"logprobs":true,"top_logprobs":20"#
      try client.request("POST", "/v1/chat/completions", body: Shared.chat("Hello!", more))
      #expect(try await eventually { engine.statistics.generatedTokens > 0 })
      for question in Shared.questions.prefix(3) {
        #expect(try server.chat(Shared.chat(question)).status == 200)
      }
      #expect(try await eventually { engine.statistics.running == 0 })
      #expect(engine.statistics.generatedTokens < 8000)
    }
  }

  @Test func slow_senders_are_hung_up_on() async throws {
    try await withServer {
      $0.headerSeconds = 5  // a busy machine may take seconds between a client's connection and its first bytes
      $0.bodySeconds = 5
    } _: { server, _ in
      func send(_ text: String) throws -> HTTPClient {
        let client = try server.client()
        try client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n\(text)")
        return client
      }
      let headers = try (0..<20).map { _ in try send("X: ") }
      let bodies = try (0..<20).map { _ in try send("Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{") }
      #expect(try server.chat(Shared.chat(Shared.questions[0])).answer?.contains("Paris") == true)
      #expect(try await eventually { server.load.connections == 0 })
      for client in headers + bodies {
        #expect(try client.response().status == 408)
        #expect(throws: ServerError.self) { try client.response() }
      }
    }
  }

  @Test func a_half_closed_client_does_not_affect_others() async throws {
    try await withServer { server, engine in
      let client = try server.client()
      try client.request("POST", "/v1/chat/completions", body: Shared.endless())
      client.closeWriting()
      #expect(try server.chat(Shared.chat(Shared.questions[0])).answer?.contains("Paris") == true)
      #expect(try await eventually { engine.statistics.running == 0 && server.load.isIdle })
    }
  }

  /// A client that closes its sending side counts as disconnected, and gets an error in case it still reads.
  @Test func a_half_closed_client_gets_an_error() async throws {
    try await withServer { server, engine in
      for _ in 0..<2 {
        let client = try server.client()
        try client.request("POST", "/v1/chat/completions", body: Shared.endless(stream: false))
        client.closeWriting()
        let response = try client.response()
        #expect(response.status == 499 && response.error["code"]?.stringValue == "client_closed_request")
        #expect(response.headers["connection"] == "close")
      }
      #expect(try await eventually { engine.statistics.running == 0 && server.load.isIdle })
      #expect(try server.get("/metrics").text.contains("pagoda:http_responses_total{status=\"499\"} 2"))
    }
  }

  @Test func silence_is_filled_with_comments() async throws {
    try await withServer {
      $0.keepAliveSeconds = 0.2
    } _: { server, engine in
      let busy = try (0..<4).map { _ in try server.client() }
      for client in busy { try client.request("POST", "/v1/chat/completions", body: Shared.endless()) }
      #expect(try await eventually { engine.statistics.running == 4 })
      let waiting = try server.client()
      try waiting.request("POST", "/v1/chat/completions", body: Shared.endless())
      let anthropic = try server.client()
      let message = #"{"messages":[{"role":"user","content":"Hello!"}],"max_tokens":5,"stream":true}"#
      try anthropic.request("POST", "/v1/messages", body: message)
      var (text, pings) = ("", "")
      #expect(throws: CancellationError.self) {
        try waiting.response {
          text += String(decoding: $0, as: UTF8.self)
          if text.contains(": keep-alive\n\n") { throw CancellationError() }
        }
      }
      waiting.close()
      let answer = try anthropic.response {  // it is answered when it has been told three times that it waits
        pings += String(decoding: $0, as: UTF8.self)
        if pings.components(separatedBy: "event: ping").count > 3 { for client in busy { client.close() } }
      }
      #expect(answer.text.components(separatedBy: "event: ping").count > 3)
      #expect(answer.text.contains("event: message_stop"))
    }
  }

  @Test func a_full_server_says_so_at_once() async throws {
    try await withServer {
      $0.maximumWaiting = 2
    } _: { server, engine in
      let clients = try (0..<6).map { _ in try server.client() }
      for client in clients { try client.request("POST", "/v1/chat/completions", body: Shared.endless()) }
      #expect(try await eventually { engine.statistics.running == 4 && engine.statistics.waiting == 2 })
      let refused = try server.chat(Shared.chat("Hello!"))
      #expect(refused.status == 429 && refused.headers["retry-after"] != nil)
      #expect(refused.error["code"]?.stringValue == "rate_limit_exceeded")
      #expect(try server.get("/health").status == 200)
      #expect(try server.get("/metrics").text.contains("pagoda:http_responses_total{status=\"429\"} 1"))
      for client in clients { client.close() }
      #expect(try await eventually { server.load.isIdle })
      #expect(try server.chat(Shared.chat("Hello!")).status == 200)
    }
  }

  @Test func while_the_model_loads_the_server_says_so() async throws {
    var options = ServerOptions()
    options.port = 0
    options.apiKeys = ["secret"]
    let server = try Server.listen(options: options)
    let key = ["Authorization": "Bearer secret"]
    let health = try server.get("/health")
    #expect(health.status == 503 && health.headers["retry-after"] != nil)
    #expect(health.json["status"]?.stringValue == "loading")
    #expect(try server.get("/").status == 200)
    #expect(try server.post("/v1/chat/completions", Shared.chat("Hello!")).status == 401)
    for path in ["/v1/chat/completions", "/v1/messages"] {
      let refused = try server.post(path, Shared.chat("Hello!"), headers: key)
      #expect(refused.status == 503 && refused.headers["retry-after"] != nil)
      #expect(refused.error["message"]?.stringValue?.contains("loading") == true)
    }
    server.serve(try await Shared.engine)
    #expect(try server.get("/health").status == 200)
    #expect(try server.post("/v1/chat/completions", Shared.chat("Hello!"), headers: key).status == 200)
    #expect(try server.get("/metrics", headers: key).text.contains("pagoda:http_responses_total{status=\"503\"} 3"))
    await server.shutDown()
    await (try Server.listen(options: options)).shutDown()  // a server that never had an engine
  }

  @Test func shutting_down_finishes_requests_in_flight() async throws {
    try await withServer { server, engine in
      let whole = try server.chat(Shared.chat(Shared.questions[4])).answer
      let before = engine.statistics.generatedTokens
      let running = background { try server.chat(Shared.chat(Shared.questions[4], ",\"stream\":true")) }
      let keptOpen = try server.client()
      try keptOpen.request("GET", "/health")
      _ = try keptOpen.response()
      #expect(try await eventually { engine.statistics.running == 1 || engine.statistics.generatedTokens > before })
      let closing = Task { await server.shutDown(drainSeconds: 600) }
      #expect(try await running.value.streamedAnswer == whole)
      await closing.value
      #expect(throws: ServerError.self) { try server.get("/health") }
    }
  }

  @Test func a_server_may_go_while_requests_come() async throws {
    for _ in 0..<25 {
      var server: Server? = try await Shared.start()
      let clients = try (0..<8).compactMap { _ in try server?.client() }
      for client in clients { try client.request("POST", "/v1/chat/completions", body: Shared.endless()) }
      server = nil  // some requests have begun, others have not been read yet
    }
  }

  @Test func an_answer_that_takes_too_long_ends_with_an_error() async throws {
    try await withServer { server, engine in
      let stream = background { try server.chat(Shared.endless()) }
      let whole = background { try server.chat(Shared.endless(stream: false)) }
      #expect(try await eventually { engine.statistics.running == 2 })
      await server.shutDown(drainSeconds: 0.1)
      let events = try await stream.value.events
      #expect(events.last?["error"]?["code"]?.stringValue == "server_shutting_down")
      let cut = try await whole.value
      #expect(cut.status == 503 && cut.headers["connection"] == "close")
      #expect(try await eventually { engine.statistics.running == 0 })
    }
  }
}
