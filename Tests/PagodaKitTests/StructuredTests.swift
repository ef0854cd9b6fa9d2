// Schemas built and derived, values from incomplete JSON, and answers and tools as typed values.
import Foundation
import PagodaKit
import Testing

@Suite struct StructuredTests {
  enum Kind: String, Decodable, CaseIterable { case town, village }
  enum Grade: Int, Decodable, CaseIterable { case low = 1, high = 3 }
  struct Mayor: Decodable, Sendable { var name: String; var isElected: Bool }
  struct City: Decodable, Sendable {
    var name: String
    var population: Int
    var kind: Kind
    var grade: Grade?
    var area: Double?
    var mayor: Mayor
    var rivers: [String]
    var twins: [String: [Mayor]]
    var founded: Date?
    var site: URL?
    var age: UInt8
  }
  struct Node: Decodable { var children: [Node] }
  enum Unlisted: String, Decodable { case a, b }
  struct Limited: Decodable, SchemaProviding {
    var code: String
    static var jsonSchema: JSONSchema { .object([.init("code", .string(pattern: "^[A-Z]{3}$"))]) }
  }

  @Test func a_type_becomes_the_schema_that_it_reads() throws {
    let schema = try JSONSchema.derived(from: City.self)
    let mayor = JSONSchema.object([.init("name", .string()), .init("isElected", .boolean)])
    let expected = try JSONSchema.object([
      .init("name", .string()), .init("population", .integer()),
      .init("kind", .init(json: #"{"enum":["town","village"]}"#)),
      .init("grade", .init(json: #"{"enum":[1,3]}"#), isRequired: false), .init("area", .number(), isRequired: false),
      .init("mayor", mayor), .init("rivers", .array(of: .string())), .init("twins", .dictionary(of: .array(of: mayor))),
      .init("founded", .string(format: .dateTime), isRequired: false),
      .init("site", .string(format: "uri"), isRequired: false),
      .init("age", .integer(in: 0...255)),
    ])
    #expect(schema.json == expected.json)
    #expect(try JSONSchema.derived(from: [Int].self) == .array(of: .integer()))
    #expect(try JSONSchema.derived(from: [Limited].self) == .array(of: Limited.jsonSchema))
  }

  @Test func types_without_a_derived_schema_are_named() {
    for (name, derive) in [
      ("Node", { try JSONSchema.derived(from: Node.self) }),
      ("Unlisted", { try JSONSchema.derived(from: Unlisted.self) }),
    ] {
      let error = #expect(throws: PagodaError.self) { try derive() }
      #expect(error?.message.contains(name) == true, "\(String(describing: error))")
    }
    #expect(throws: PagodaError.self) { try JSONSchema(json: "[1]") }
  }

  @Test func parts_of_a_schema_can_be_replaced() throws {
    let schema = try JSONSchema.derived(from: Mayor.self).replacing(
      "name", with: .string(maximumLength: 9).described("Who."))
    #expect(
      schema.json == #"{"type":"object","properties":{"name":{"type":"string","maxLength":9,"description":"Who."},"#
        + #""isElected":{"type":"boolean"}},"required":["name","isElected"],"additionalProperties":false}"#)
    #expect(
      JSONSchema.array(of: .oneOf(["a"]), count: 1...2).json
        == #"{"type":"array","items":{"type":"string","enum":["a"]},"minItems":1,"maxItems":2}"#)
  }

  /// Every prefix of a document closes to JSON, and the closed text only ever grows towards the whole.
  @Test func every_prefix_of_json_can_be_closed() throws {
    let document =
      #" {"a": [1, 23.5e-1, {"b": "x\"y\\\u00e9 ü", "c": null}], "d": {}, "e": [true, false], "f": "end"} "#
    for end in document.indices {
      var partial = PartialJSON()
      for character in document[..<end] { partial.push(String(character)) }
      if let closed = partial.closed { #expect(JSONValue.parse(closed) != nil, "\(closed)") }
    }
    var partial = PartialJSON()
    partial.push(#"{"name":"Par"#)
    #expect(partial.closed == #"{"name":"Par"}"#)
    partial.push(#"is","popu"#)
    #expect(partial.closed == #"{"name":"Paris"}"#)
    partial.push(#"lation":2"#)
    #expect(partial.closed == #"{"name":"Paris"}"#)  // an incomplete number is dropped
    partial.push("1}")
    #expect(partial.closed == #"{"name":"Paris","population":21}"#)
  }

  @Test func a_value_grows_while_its_answer_comes() async throws {
    struct Answer: Decodable, Sendable, Equatable { var capital: String; var note: String }
    let session = ChatSession(try await Shared.engine)
    let schema = try JSONSchema.derived(from: Answer.self)
      .replacing("capital", with: .string(maximumLength: 12)).replacing("note", with: .string(maximumLength: 12))
    var seen: [PartialValue<Answer>] = []
    let stream = session.streamResponse(
      to: Shared.france, generating: Answer.self, schema: schema, options: ResponseOptions(maximumTokens: 200))
    for try await part in stream { seen.append(part) }
    let last = try #require(seen.last)
    #expect(last.isComplete && seen.dropLast().allSatisfy { !$0.isComplete })
    #expect(seen.count > 3 && seen.first?.value == Answer(capital: "", note: ""))
    for part in seen { #expect(last.value.capital.hasPrefix(part.value.capital)) }
    #expect(session.history.last?.content == last.json)
  }

  @Test func a_tool_needs_no_schema() async throws {
    struct Place: Decodable, Sendable { var city: String }
    let asked = Recorder<String>()
    let tool = try Tool(name: "get_weather", description: "The weather.") { (place: Place) in
      asked.append(place.city)
      return "sunny"
    }
    #expect(tool.definition.parameters == (try JSONSchema.derived(from: Place.self).json))
    let session = ChatSession(try await Shared.engine, tools: [tool])
    _ = try await session.respond(to: "What is the weather in Paris?")
    #expect(asked.values == ["Paris"])
    asked.append("end")
    session.reset()
    let silent = try await session.respond(
      to: "What is the weather in Paris?", options: ResponseOptions(maximumTokens: 40, usesTools: false))
    #expect(asked.values == ["Paris", "end"] && silent.toolCalls.isEmpty)
  }
}
