// Values in answers and arguments: dates, key names, tuples, guides, and answers that a limit ended too early.
import Foundation
import PagodaKit
import PagodaTesting
import Testing

@Suite struct ValueTests {
  struct Meeting: Decodable, Sendable, Equatable { var roomName: String; var startsAt: Date }
  struct Point: Decodable, Sendable, Equatable {
    var x: Double
    var y: Double
    init(from decoder: any Decoder) throws {
      var numbers = try decoder.unkeyedContainer()
      x = try numbers.decode(Double.self)
      y = try numbers.decode(Double.self)
    }
  }
  struct Pair: Decodable, Sendable {
    init(from decoder: any Decoder) throws {
      var parts = try decoder.unkeyedContainer()
      _ = try parts.decode(String.self)
      _ = try parts.decode(Int.self)
    }
  }
  struct City: Decodable, Sendable, Guided {
    var name: String
    var population: Int
    var rivers: [String]
    static var guides: [Guide] {
      [
        Guide("name", description: "In English.", length: 1...40), Guide("population", in: 0...9),
        Guide("rivers", count: 0...2),
      ]
    }
  }
  struct Misguided: Decodable, Guided {
    var city: String
    static var guides: [Guide] { [Guide("ctiy", description: "Where.")] }
  }

  static let noon = Date(timeIntervalSince1970: 1_793_793_600)

  @Test(arguments: [
    ("2026-11-04T12:00:00Z", 0.0), ("2026-11-04T14:00:00+02:00", 0), ("2026-11-04T12:00:00.25Z", 0.25),
    ("2026-11-04T12:00:00.123456-00:00", 0.123456),
  ])
  func dates_are_iso_8601(text: String, offset: Double) async throws {
    let arguments = #"{"roomName":"A","startsAt":"\#(text)"}"#
    let call = ToolCall(id: "1", name: "book", arguments: arguments)
    let meeting = try call.decodeArguments(as: Meeting.self)
    #expect(abs(meeting.startsAt.timeIntervalSince(Self.noon) - offset) < 1e-6)
    let session = ChatSession(ScriptedEngine(ScriptedAnswer.text(arguments)))
    #expect(try await session.respond(to: "When?", generating: Meeting.self).value == meeting)
  }

  @Test func dates_agree_in_the_schema_in_tools_and_in_partial_values() async throws {
    let schema = try JSONSchema.derived(from: Meeting.self)
    #expect(schema == .object([.init("roomName", .string()), .init("startsAt", .string(format: .dateTime))]))
    let tool = try Tool(name: "book", description: "Books.") { (meeting: Meeting) in "\(meeting.startsAt == Self.noon)"
    }
    #expect(try tool.definition.schema == schema)
    let arguments = #"{"roomName":"A","startsAt":"2026-11-04T12:00:00Z"}"#
    let session = ChatSession(ScriptedEngine(.toolCall("book", arguments: arguments), "Booked."), tools: [tool])
    _ = try await session.respond(to: "Book it.")
    #expect(session.history.first { $0.role == .tool }?.content == "true")
    var last: Meeting?
    let answers = ChatSession(ScriptedEngine(ScriptedAnswer.text(arguments)))
    for try await part in answers.streamResponse(to: "When?", generating: Meeting.self) { last = part.value }
    #expect(last?.startsAt == Self.noon)
  }

  @Test func a_decoder_of_the_client_decides_the_schema_too() async throws {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .secondsSince1970
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let schema = try JSONSchema.derived(from: Meeting.self, decoder: decoder)
    #expect(schema == .object([.init("room_name", .string()), .init("starts_at", .number())]))
    let answer = ScriptedAnswer.text(#"{"room_name":"A","starts_at":1793793600}"#)
    let expected = Meeting(roomName: "A", startsAt: Self.noon)
    let session = ChatSession(ScriptedEngine(answer, answer))
    #expect(try await session.respond(to: "?", generating: Meeting.self, decoder: decoder).value == expected)
    var parts: [Meeting] = []
    for try await part in session.streamResponse(to: "?", generating: Meeting.self, decoder: decoder) {
      parts.append(part.value)
    }
    #expect(parts.last == expected)
    decoder.dateDecodingStrategy = .iso8601
    #expect(try JSONSchema.derived(from: Date.self, decoder: decoder).json.contains("pattern"))
    decoder.keyDecodingStrategy = .custom { $0[$0.count - 1] }
    #expect(throws: PagodaError.self) { try JSONSchema.derived(from: Meeting.self, decoder: decoder) }
  }

  @Test func the_model_writes_dates_that_are_read() async throws {
    struct Event: Decodable, Sendable { var date: Date }
    let session = ChatSession(try await Shared.engine)
    let value = try await session.respond(
      to: "When does it start?", generating: Event.self, options: ResponseOptions(maximumTokens: 200)
    ).value
    #expect(value.date > Date(timeIntervalSince1970: -31_000_000_000))
  }

  @Test func tuples_are_arrays_of_their_size() async throws {
    #expect(try JSONSchema.derived(from: Point.self) == .array(of: .number(), count: 2...2))
    #expect(try JSONSchema.derived(from: [Point].self) == .array(of: .array(of: .number(), count: 2...2)))
    #expect(try JSONSchema.derived(from: [Double].self) == .array(of: .number()))
    #expect(try JSONSchema.derived(from: Set<Int>.self) == .array(of: .integer()))
    let pair = try JSONSchema.derived(from: Pair.self)
    #expect(pair == .tuple(of: [.string(), .integer()]) && pair.json.contains("prefixItems"))
    let session = ChatSession(try await Shared.engine)
    session.sampling.maximumTokens = 100
    _ = try await session.respond(to: "Where is it?", generating: Point.self)
    let other = ChatSession(try await Shared.engine)
    other.sampling.maximumTokens = 100
    _ = try await other.respond(to: "Describe Rome as JSON.", generating: Pair.self)
  }

  @Test func an_unknown_property_is_named() throws {
    let schema = try JSONSchema.derived(from: Meeting.self)
    let error = #expect(throws: PagodaError.self) { try schema.replacing("ctiy", with: .string()) }
    #expect(error?.message.contains("'ctiy'") == true && error?.message.contains("'roomName'") == true)
    #expect(throws: PagodaError.self) { try JSONSchema.derived(from: Misguided.self) }
  }

  @Test func guides_become_keywords() throws {
    #expect(
      try JSONSchema.derived(from: City.self)
        == .object([
          .init("name", .string(minimumLength: 1, maximumLength: 40).described("In English.")),
          .init("population", .integer(in: 0...9)), .init("rivers", .array(of: .string(), count: 0...2)),
        ]))
  }

  @Test func a_limit_leaves_the_partial_value() async throws {
    let cut = ScriptedAnswer.text(#"{"name":"Par"#, finishReason: .length)
    let session = ChatSession(ScriptedEngine(cut, cut, .text("{", finishReason: .stop)))
    do {
      _ = try await session.respond(to: "?", generating: City.self)
      Issue.record("it is complete")
    } catch PagodaError.incompleteOutput(let output) {
      #expect(output.json == #"{"name":"Par"}"#)
      let city = try output.value(as: City.self)
      #expect(city.name == "Par" && city.population == 0 && city.rivers.isEmpty)
    }
    let error = await #expect(throws: PagodaError.self) {
      for try await _ in session.streamResponse(to: "?", generating: City.self) {}
    }
    #expect(error?.code == "incomplete_output")
    let other = await #expect(throws: PagodaError.self) { try await session.respond(to: "?", generating: City.self) }
    #expect(other?.code == "invalid_argument")
  }

  @Test func the_engine_s_limit_is_reported_too() async throws {
    let session = ChatSession(try await Shared.engine)
    let error = await #expect(throws: PagodaError.self) {
      try await session.respond(to: "Hi", generating: City.self, options: ResponseOptions(maximumTokens: 2))
    }
    #expect(error?.code == "incomplete_output", "\(String(describing: error))")
  }
}
