// Several models in one server: found by name and alias, loaded when first requested, unloaded within one memory plan.
import Foundation
import PagodaKit
import PagodaMini
import PagodaServer
import Testing

@Suite(.ownThread) struct SeveralModelsTests {
  private static func engineOptions(_ sequences: Int = 4) -> EngineOptions {
    var options = EngineOptions()
    options.maximumSequences = sequences
    options.maximumModelLength = 2048
    return options
  }

  /// `capacity`: how many models fit at once.
  private static func start(
    _ names: [String] = ["a", "b"], capacity: Int = 2, unloadAfter: Double? = nil, log: Log = Log(),
    _ change: (inout ServerOptions) -> Void = { _ in }
  ) async throws -> Server {
    var options = ServerOptions()
    options.port = 0
    options.eventLog = { log.add($0) }
    options.aliases = [
      ModelAlias("b-old", model: "b"), ModelAlias("claude-*", model: "a"), ModelAlias("*", model: "b"),
    ]
    change(&options)
    let server = try Server.listen(options: options)
    let engine = engineOptions()
    let bytes = try await Engine.inspect(.mini, options: engine).plan.totalBytes
    try await server.serve(
      names.map { ServedModel(name: $0, source: .mini, options: engine) },
      memoryBytes: bytes * Int64(capacity) + 1000, unloadAfterSeconds: unloadAfter)
    return server
  }

  final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: [String] = []
    func add(_ line: String) { lock.withLock { stored.append(line) } }
    var lines: [String] { lock.withLock { stored } }
    func count(_ text: String) -> Int { lines.count { $0.contains(text) } }
  }

  private static func loaded(_ server: Server) throws -> [String] {
    let data = try server.get("/v1/models").json["data"]?.arrayValue ?? []
    return data.filter { $0["loaded"] == .bool(true) && $0["root"] == nil }.compactMap { $0["id"]?.stringValue }
  }

  /// On a separate thread: a model is loaded by tasks, which have only as many threads as there are cores.
  private static func ask(
    _ server: Server, _ model: String?, _ more: String = ""
  ) async throws -> HTTPClient.Response {
    try await background { try askAndWait(server, model, more) }.value
  }

  private static func askAndWait(
    _ server: Server, _ model: String?, _ more: String = ""
  ) throws -> HTTPClient.Response {
    let name = model.map { #","model":\#(JSONValue.string($0).text)"# } ?? ""
    return try server.chat(Shared.chat(Shared.questions[0], #","max_tokens":8,"temperature":0\#(name)\#(more)"#))
  }

  @Test func models_are_loaded_on_demand() async throws {
    let server = try await Self.start()
    #expect(try Self.loaded(server) == [])
    #expect(try server.get("/health").json["models"] == .object(["a": .string("unloaded"), "b": .string("unloaded")]))
    let ids = try server.get("/v1/models").json["data"]?.arrayValue?.compactMap { $0["id"]?.stringValue }
    #expect(ids == ["a", "b", "b-old"], "patterns are no names")
    let first = try await Self.ask(server, "b")
    #expect(first.status == 200 && first.json["model"] == .string("b"))
    #expect(try Self.loaded(server) == ["b"])
    let second = try await Self.ask(server, "a")
    #expect(try Self.loaded(server) == ["a", "b"] && second.answer == first.answer)
    #expect(try server.get("/health").json["models"] == .object(["a": .string("loaded"), "b": .string("loaded")]))
    await server.shutDown()
  }

  @Test func names_come_before_aliases_and_aliases_in_their_order() async throws {
    let log = Log()
    let server = try await Self.start { $0.structuredLog = { log.add($0) } }
    for (asked, meant) in [("a", "a"), ("claude-9", "a"), ("b-old", "b"), ("anything", "b"), ("a:latest", "a")] {
      let answer = try await Self.ask(server, asked)
      #expect(answer.status == 200 && answer.json["model"] == .string(asked))
      #expect(try await eventually { log.lines.last?.contains(#""model":"\#(meant)""#) ?? false }, "\(asked)")
      #expect(try server.get("/v1/models/\(asked)").status == 200)
      #expect(try await eventually { log.lines.last?.contains("/v1/models") ?? false })
    }
    #expect(try await Self.ask(server, nil).status == 200, "a request that names none gets the first")
    #expect(try await eventually { log.lines.last?.contains(#""model":"a""#) ?? false })
    await server.shutDown()
    let strict = try await Self.start { $0.aliases = [] }
    let refused = try await Self.ask(strict, "c")
    #expect(refused.status == 404 && refused.error["code"] == .string("model_not_found"))
    #expect(refused.error["message"]?.stringValue?.contains("a, b") ?? false)
    #expect(try Self.loaded(strict) == [], "a refusal loads nothing")
    #expect(try strict.post("/api/show", #"{"model":"a:latest"}"#).status == 200 && Self.loaded(strict) == [])
    let apps = background { try strict.post("/api/chat", #"{"model":"b:latest","messages":[],"stream":false}"#) }
    #expect(try await apps.value.status == 200)
    await strict.shutDown()
  }

  @Test func the_least_recently_used_model_is_unloaded() async throws {
    let log = Log()
    let server = try await Self.start(["a", "b", "c"], capacity: 2, log: log)
    for name in ["a", "b", "a", "c"] { #expect(try await Self.ask(server, name).status == 200) }
    #expect(try Self.loaded(server) == ["a", "c"])
    #expect(log.count("b is unloaded") == 1 && log.count("is loaded") == 3)
    let ps = try server.get("/api/ps").json["models"]?.arrayValue?.compactMap { $0["name"]?.stringValue }
    #expect(ps?.contains("a:latest") == true && ps?.contains("b:latest") == false)
    await server.shutDown()
    #expect(log.count("is unloaded") == 3)
  }

  @Test func no_answer_in_flight_is_cut_by_a_load() async throws {
    let log = Log()
    let server = try await Self.start(capacity: 1, log: log)
    let alone = try await Self.ask(server, "a", #","ignore_eos":true"#).answer
    // Twelve clients that keep switching models: each gets the answer that it would get alone.
    let answers = try await together(12) { index in
      try (0..<4).map { try Self.askAndWait(server, (index + $0) % 2 == 0 ? "a" : "b", #","ignore_eos":true"#) }
    }
    for answer in answers.flatMap({ $0 }) { #expect(answer.status == 200 && answer.answer == alone) }
    #expect(try Self.loaded(server).count == 1)
    #expect(log.count("is loaded") - log.count("is unloaded") == 1, "never two at once: \(log.lines)")
    var most = 0
    var now = 0
    for line in log.lines {
      now += line.contains("is loaded") ? 1 : line.contains("is unloaded") ? -1 : 0
      most = max(most, now)
    }
    #expect(most == 1)
    await server.shutDown()
  }

  @Test func idle_models_are_unloaded_by_age() async throws {
    let log = Log()
    let server = try await Self.start(unloadAfter: 0.2, log: log)
    #expect(try await Self.ask(server, "a").status == 200)
    #expect(try await eventually { log.count("a is unloaded") == 1 })
    #expect(try Self.loaded(server) == [])
    #expect(try await Self.ask(server, "a").status == 200, "and come back")
    await server.shutDown()
  }

  @Test func metrics_tell_the_models_apart() async throws {
    let server = try await Self.start()
    for name in ["a", "b"] { #expect(try await Self.ask(server, name).status == 200) }
    let text = try server.get("/metrics").text
    for name in ["a", "b"] { #expect(text.contains(#"vllm:num_requests_running{model_name="\#(name)"} 0"#)) }
    #expect(text.contains(#"pagoda:step_seconds_total{model_name="a",phase="plan"}"#))
    let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE") }
    #expect(Set(types).count == types.count, "each family is described once")
    await server.shutDown()
  }

  @Test func invalid_options_are_refused_when_the_server_starts() async throws {
    let server = try Server.listen(options: Self.onFreePort())
    let model = ServedModel(name: "a", source: .mini, options: Self.engineOptions())
    await #expect(throws: ServerError.self) { try await server.serve([model, model]) }
    await #expect(throws: ServerError.self) { try await server.serve([]) }
    await #expect {
      try await server.serve([model], memoryBytes: 1 << 20)
    } throws: { error in
      (error as? PagodaError)?.message.contains("a needs") ?? false
    }
    #expect(try server.get("/health").status == 503)
    await server.shutDown()
  }

  @Test func a_model_that_cannot_be_loaded_says_why() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pagoda-several-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let server = try Server.listen(options: Self.onFreePort())
    await #expect {
      try await server.serve([ServedModel(name: "a", source: .folder(path: folder.path))])
    } throws: { error in
      (error as? PagodaError)?.message.contains("config.json") ?? false
    }
    await server.shutDown()
  }

  @Test(arguments: [
    ("claude-*", "claude-3", true), ("claude-*", "claud", false), ("*", "", true), ("*-mini", "gpt-4o-mini", true),
    ("a*b*c", "a1b2c", true), ("a*b*c", "acb", false), ("gpt", "gpt", true), ("gpt", "gpt-4", false),
    ("ab*ba", "aba", false),
  ]) func patterns(pattern: String, name: String, isMatch: Bool) {
    #expect(ModelAlias(pattern, model: "m").matches(name) == isMatch)
  }

  private static func onFreePort() -> ServerOptions {
    var options = ServerOptions()
    options.port = 0
    return options
  }
}
