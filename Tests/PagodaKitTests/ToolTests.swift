// Tools: calls as events, typed arguments, the session's own tool rounds, and their place in its history.
import Foundation
import PagodaKit
import Testing

@Suite struct ToolTests {
  struct Place: Decodable, Sendable { var city: String }

  static let schema = #"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#
  static let definition = ToolDefinition(name: "get_weather", description: "The weather.", parameters: schema)
  static let question = "What is the weather in Paris?"

  @Test func a_call_is_an_event_and_its_arguments_are_typed() async throws {
    var request = Request(Self.question)
    request.tools = [Self.definition]
    let response = try await Shared.engine.respond(to: request)
    let call = try #require(response.toolCalls.first, "\(response.text)")
    #expect(call.name == "get_weather")
    #expect(try call.decodeArguments(as: Place.self).city == "Paris")
    #expect(!response.text.contains("tool_call"))
    #expect(throws: PagodaError.self) { try call.decodeArguments(as: [Int].self) }
  }

  @Test func a_session_runs_its_tools_and_continues() async throws {
    let asked = Recorder<String>()
    let tool = Tool(name: "get_weather", description: "The weather.", parameters: try JSONSchema(json: Self.schema)) {
      (place: Place) in
      asked.append(place.city)
      return "sunny"
    }
    let session = ChatSession(try await Shared.engine, tools: [tool])
    var calls = 0
    var ends = 0
    for try await event in session.streamEvents(to: Self.question) {
      if case .toolCall = event { calls += 1 }
      if case .finished = event { ends += 1 }
    }
    #expect(asked.values == ["Paris"] && calls == 1 && ends == 1)
    #expect(session.history.map(\.role) == [.user, .assistant, .tool, .assistant])
    #expect(session.history[1].toolCalls.map(\.id) == [try #require(session.history[2].toolCallID)])
    #expect(session.history[2].content == "sunny")
  }

  @Test func the_error_of_a_tool_is_sent_to_the_model() async throws {
    let tool = Tool(Self.definition) { _ in throw PagodaError.notFound("no weather today") }
    let session = ChatSession(try await Shared.engine, tools: [tool])
    _ = try await session.respond(to: Self.question)
    #expect(session.history.first { $0.role == .tool }?.content == "error: no weather today")
  }

  @Test func a_required_call_comes_whatever_the_question_is() async throws {
    var request = Request("What is the capital of France?")
    request.tools = [
      Self.definition, ToolDefinition(name: "zorp_lookup", description: "Looks up.", parameters: Self.schema),
    ]
    #expect(try await Shared.engine.respond(to: request).toolCalls.isEmpty)
    request.toolChoice = .required
    let required = try await Shared.engine.respond(to: request)
    #expect(!required.toolCalls.isEmpty && required.text.isEmpty, "\(required)")
    for call in required.toolCalls { _ = try call.decodeArguments(as: Place.self) }
    request.toolChoice = .named("zorp_lookup")
    let named = try await Shared.engine.respond(to: request)
    #expect(named.toolCalls.map(\.name) == ["zorp_lookup"], "\(named)")

    request.toolChoice = .named("other")
    let error = await #expect(throws: PagodaError.self) { try await Shared.engine.respond(to: request) }
    #expect(error?.message.contains("'other'") == true)
    request.tools = []
    request.toolChoice = .required
    await #expect(throws: PagodaError.self) { try await Shared.engine.respond(to: request) }
  }

  @Test func bad_tools_are_named() async throws {
    var request = Request(Self.question)
    request.tools = [ToolDefinition(name: "odd", description: "", parameters: "[")]
    let error = await #expect(throws: PagodaError.self) { try await Shared.engine.respond(to: request) }
    #expect(error?.message.contains("odd") == true)
    request = Request(prompt: .text("x"))
    request.tools = [Self.definition]
    await #expect(throws: PagodaError.self) { try await Shared.engine.respond(to: request) }
  }
}
