// Every public entry point as the documentation shows it, compiled as a client of a version (Tools/checks/client_package.sh);
// Tools/checks/entry_points.py finds those that are missing here.
import Foundation
import PagodaHub
import PagodaKit
import PagodaMini
import PagodaTesting

struct Place: Decodable, Sendable { var city: String }
struct City: Decodable, Sendable, Guided {
  var name: String
  var founded: Date?
  static var guides: [Guide] { [Guide("name", description: "Its English name.", length: 1...40)] }
}

@main
enum EntryPoints {
  /// Runs what needs no download; the functions below only have to compile.
  static func main() async throws {
    let engine = ScriptedEngine("Paris.", .toolCall("get_weather", arguments: #"{"city":"Rome"}"#), "Sunny.")
    print(try await engine.respond(to: "What is the capital of France?"))
    print(try await ChatSession(engine, tools: try tools()).respond(to: "What is the weather in Rome?"))
    if CommandLine.arguments.count > 1 { try await everything() }
  }

  static func everything() async throws {
    let model = ModelContainer(.mini, options: EngineOptions(kvDType: .int8, speculation: .off))
    try await loading(model)
    let engine = try await model.engine()
    try await requests(engine)
    try await conversation(engine)
    try await values(ChatSession(engine))
    try schemas()
    try await rules(engine, ChatSession(engine))
    try await prefixes(engine, ChatSession(engine), FileManager.default.temporaryDirectory.appending(path: "state"))
    try await adapters(engine, FileManager.default.temporaryDirectory.appending(path: "adapter"))
    try await tokenizers(engine)
    try await profile(engine)
    try await scripts()
    print(sources(UnsafeRawBufferPointer(start: nil, count: 0)))
    try await hub()
    try await measurements(.mini)
    try await stage(.mini)
    await model.unload()
  }

  static func tools() throws -> [Tool] {
    let weather = try Tool(name: "get_weather", description: "The weather.") { (place: Place) in
      "sunny in \(place.city)"
    }
    let definition = ToolDefinition(
      name: "raw", description: "", parameters: .object([.init("a", .integer(in: 0...9))]))
    return [weather, Tool("time") { "noon" }, Tool(definition) { $0.arguments }]
  }

  static func loading(_ model: ModelContainer) async throws {
    switch await model.availability() {
    case .available(let plan): print(plan.totalBytes)
    case .notDownloaded(let bytes): print(bytes ?? 0)
    case .unavailable(let error): print(error.message)
    @unknown default: break
    }
    print(try await model.memoryEstimate().weightsBytes, await model.isLoaded, await model.isLoading)
    try await model.fetch { print($0.fraction) }
    try await model.preload { print($0.phase) }
    _ = try await model.session(instructions: "Answer briefly.")
    _ = await model.unloadIfIdle()
    _ = try await Engine.inspect(.folder(URL(filePath: "/models/a")))
    _ = try await Tokenizer.load(.folder(path: "/models/a")).encode("text")
  }

  static func requests(_ engine: Engine) async throws {
    var request = Request("What is 12 plus 30?", sampling: SamplingParameters(temperature: 0.2, logitBias: [5: -100]))
    request.grammar = .regex("[0-9]+")
    for try await event in engine.submit(request) {
      switch event {
      case .text(let text), .reasoning(let text): print(text)
      case .toolCall(let call): print(try call.decodeArguments(as: Place.self))
      case .rejectedToolCall(let call): print(call.reason)
      case .toolFailed(let failure): print(failure.message)
      case .token(let token): print(token.id)
      case .promptProgress(let progress): print(progress.fraction)
      case .contextTrimmed(let count): print(count)
      case .finished(let completion): print(completion.usage, completion.timings, completion.finishReason)
      @unknown default: break
      }
    }
    print(try engine.tokenCount(of: request), try engine.findPrefix(of: [1, 2]).cachedTokens)
    print(engine.statistics.running, engine.info.plan, engine.watch().activity.lanes)
    let vectors = try await engine.embed(["a", "b"])
    print(vectors[0].similarity(to: vectors[1]), try await engine.embed("c", pooling: .mean).values.count)
    engine.setProfiling(true)
  }

  static func conversation(_ engine: some LanguageEngine) async throws {
    let session = ChatSession(engine, instructions: "Answer briefly.", tools: try tools())
    session.toolFailures = .retry(1)
    try await session.prewarm()
    do {
      print(try await session.respond(to: "Hi", options: ResponseOptions(maximumTokens: 9, toolChoice: .automatic)))
    } catch PagodaError.contextOverflow {
      session.reset()
    } catch let error as PagodaError {
      print(error.code, error.localizedDescription)
    }
    for try await text in session.streamResponse(to: "Hello") { print(text) }
    for try await event in session.streamEvents(to: [.user("a"), .assistant("b"), .user("c")]) { print(event) }
    session.stop()
    print(session.history, session.isResponding, session.responseInProgress as Any, session.lastCompletion as Any)
    print(try session.tokenCount(adding: "more"), session.engine.info.device)
    let data = try JSONEncoder().encode(session.transcript)
    _ = ChatSession(engine, transcript: try JSONDecoder().decode(Transcript.self, from: data))
  }

  static func values(_ session: ChatSession) async throws {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .secondsSince1970
    let schema = try JSONSchema.derived(from: City.self, decoder: decoder).replacing("name", with: .oneOf(["Rome"]))
    do {
      let city = try await session.respond(to: "?", generating: City.self, schema: schema, decoder: decoder)
      print(city.value.name, city.response.text)
    } catch PagodaError.incompleteOutput(let output) {
      print(try output.value(as: City.self).name, output.json)
    }
    for try await part in session.streamResponse(to: "?", generating: City.self) { print(part.value, part.isComplete) }
    let parser = try OutputParser(startsInReasoning: true)
    print(parser.push("a"), parser.finish())
  }

  static func hub() async throws {
    let settings = HubSettings()
    let model = ModelContainer(.hub("Qwen/Qwen3.5-0.8B", settings: settings))
    do { try await model.fetch() } catch PagodaError.fetchFailed(let reason) { print(reason) }
    guard let name = ModelName("Qwen/Qwen3.5-0.8B") else { return }
    print(try await ModelPull(settings).pull(name) { print($0.fraction) }.folder)
    print(HubCache(folder: settings.cacheFolder).models(), try await HubAPI(settings).search("qwen"))
    try await cache(name)
    print(results(name))
  }
}
