// What people type first: these lines must compile as they are.
import Foundation
import PagodaKit
import PagodaMini
import PagodaTesting
import Testing

@Suite struct FirstLinesTests {
  struct Place: Decodable, Sendable { var city: String }

  @Test func options_and_parameters_by_name() {
    let options = EngineOptions(kvDType: .int8)
    #expect(options.kvDType == .int8 && options.maximumSequences == EngineOptions().maximumSequences)
    let sampling = SamplingParameters(temperature: 0.2)
    #expect(sampling.temperature == 0.2 && sampling.topP == nil)
    var changed = SamplingParameters()
    changed.temperature = 0.2
    #expect(changed == sampling)
  }

  @Test func a_question_needs_no_request() async throws {
    let engine = try await Shared.engine
    #expect(try await engine.respond(to: "Hi").text.isEmpty == false)
    #expect(try await engine.respond(to: [.user(Shared.france)]).text.contains("Paris"))
    #expect(try await engine.respond(to: Request("Hi")).text.isEmpty == false)
  }

  @Test func tools_by_name() async throws {
    let time = Tool("time") { "noon" }
    let weather = try Tool("weather", description: "The weather.") { (place: Place) in "sunny in \(place.city)" }
    let engine = ScriptedEngine(.toolCall("time"), .toolCall("weather", arguments: #"{"city":"Rome"}"#), "So.")
    let session = ChatSession(engine, tools: [time, weather])
    #expect(try await session.respond(to: "?").text == "So.")
    #expect(session.history.filter { $0.role == .tool }.map(\.content) == ["noon", "sunny in Rome"])
  }

  @Test func grammars_and_required_calls_in_options() async throws {
    let session = ChatSession(try await Shared.engine, tools: [Tool("time", description: "The time.") { "noon" }])
    let number = ResponseOptions(usesTools: false, grammar: .regex("[0-9]{2}"))
    #expect(Int(try await session.respond(to: "How many?", options: number).text) != nil)
    session.reset()
    let called = try await session.respond(to: "Hello!", options: ResponseOptions(toolChoice: .required))
    #expect(!called.toolCalls.isEmpty && session.history.contains { $0.content == "noon" })
    #expect(session.history.last?.toolCalls.isEmpty == true)  // a call is required once
    _ = ResponseOptions(grammar: .regex("a|b"), toolChoice: .required)
  }

  @Test func texts_are_embedded_together() async throws {
    let engine = try await Shared.engine
    let texts = (0..<70).map { "text \($0)" }
    let vectors = try await engine.embed(texts)
    let last = try await engine.embed(texts[69])
    #expect(vectors.count == 70 && vectors[69] == last)
    #expect(try await engine.embed([String]()).isEmpty)
  }

  @Test func errors_by_case() async throws {
    let engine = ScriptedEngine(.failure(PagodaError.contextOverflow("too long")))
    do {
      _ = try await engine.respond(to: "x")
      Issue.record("it answered")
    } catch PagodaError.contextOverflow {
    }
  }

  @Test func text_and_values_stream_alike() async throws {
    let session = ChatSession(ScriptedEngine("Hi", ScriptedAnswer.text(#"{"city":"Rome"}"#)))
    for try await text in session.streamResponse(to: "Hi") { #expect(text == "Hi") }
    for try await part in session.streamResponse(to: "Where?", generating: Place.self) where part.isComplete {
      #expect(part.value.city == "Rome")
    }
  }

  @Test func folders_are_urls() {
    let folder = URL(filePath: "/models/a")
    #expect(
      ModelSource.folder(folder) == .folder(path: "/models/a") && ModelSource.directory(folder) == .folder(folder))
    var options = EngineOptions()
    options.prefixCacheURL = folder
    options.weightCacheURL = folder
    #expect(options.prefixCacheFolder == "/models/a" && options.weightCacheFolder == "/models/a")
    #expect(options.prefixCacheURL?.path == folder.path)
  }

  @Test func formats_and_schemas_are_typed() throws {
    let schema = JSONSchema.object([.init("day", .string(format: .date)), .init("mail", .string(format: "email"))])
    #expect(ToolDefinition(name: "a", description: "", parameters: schema).parameters == schema.json)
    #expect(Request.Grammar.matching(schema) == .jsonSchema(schema.json))
  }
}
