// Answers that must satisfy a schema, and thinking within a budget, on the embedded model.
import PagodaKit
import Testing

@Suite struct GrammarTests {
  private let schema =
    #"{"type": "object", "properties": {"city": {"type": "string", "maxLength": 12}}, "required": ["city"]}"#

  private func request(_ grammar: Request.Grammar, thinking: Bool? = nil) -> Request {
    var request = Request(Shared.france, thinking: thinking)
    request.grammar = grammar
    request.sampling.maximumTokens = 200
    return request
  }

  @Test func a_schema_shapes_the_answer() async throws {
    let response = try await Shared.engine.respond(to: request(.jsonSchema(schema)))
    let value = try #require(JSONValue.parse(response.text), "\(response.text)")
    #expect(value.objectValue?.map(\.key) == ["city"])
    #expect(response.completion.finishReason == .stop)
  }

  @Test func properties_come_in_the_order_that_the_schema_states() async throws {
    let property = #"{"type": "string", "maxLength": 6}"#
    for order in [["b", "a", "c"], ["c", "b", "a"]] {
      let schema = #"""
        {"type": "object", "x-order": \#(JSONValue.array(order.map { .string($0) }).text), "required": ["a", "b", "c"],
         "additionalProperties": false, "properties": {"a": \#(property), "b": \#(property), "c": \#(property)}}
        """#
      let response = try await Shared.engine.respond(to: request(.jsonSchema(schema)))
      #expect(JSONValue.parse(response.text)?.objectValue?.map(\.key) == order, "\(response.text)")
    }
  }

  @Test func a_schema_holds_after_thinking() async throws {
    var request = request(.jsonSchema(schema), thinking: true)
    request.sampling.thinkingBudget = 8
    let response = try await Shared.engine.respond(to: request)
    #expect(JSONValue.parse(response.text)?["city"] != nil, "\(response.text)")
    let close = try #require(try await Shared.engine.tokenizer?.id(of: "</think>"))
    let end = try #require(response.tokens.firstIndex { $0.id == close })
    #expect(end <= 8)
  }

  @Test func a_text_that_mentions_thinking_leaves_the_grammar_on() async throws {
    var request = Request(prompt: .text("The tag <think> in JSON: "))
    request.grammar = .jsonSchema(schema)
    request.sampling.maximumTokens = 200
    let response = try await Shared.engine.respond(to: request)
    #expect(JSONValue.parse(response.text)?["city"] != nil, "\(response.text)")
  }

  @Test func schemas_that_cannot_be_enforced_are_refused() async throws {
    let engine = try await Shared.engine
    await #expect(throws: PagodaError.self) {
      try await engine.respond(to: request(.jsonSchema(#"{"not": {"type": "null"}}"#)))
    }
  }

  @Test func a_budget_of_nothing_closes_thinking_at_once() async throws {
    var request = Request(Shared.france, thinking: true)
    request.sampling.thinkingBudget = 0
    let response = try await Shared.engine.respond(to: request)
    #expect(response.reasoning.isEmpty)
    #expect(!response.text.isEmpty && !response.text.contains("think"))
  }
}
