// Schemas, guides, rules for logits, kept prefixes and tokenizers of a client.
import Foundation
import PagodaKit

struct Trip: Decodable, Sendable, Guided {
  var (to, days, price, mail, stops, kind, code): (String, Int, Double, String, [String], String, String)
  enum CodingKeys: CodingKey { case to, days, price, mail, stops, kind, code }
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    (to, days) = (try values.decode(String.self, forKey: .to), try values.decode(Int.self, forKey: .days))
    (price, mail) = (try values.decode(Double.self, forKey: .price), try values.decode(String.self, forKey: .mail))
    (stops, kind) = (try values.decode([String].self, forKey: .stops), try values.decode(String.self, forKey: .kind))
    code = try values.decode(String.self, forKey: .code)
  }
  static var guides: [Guide] {
    [
      Guide("to", description: "A city."), Guide("days", in: 1...30), Guide("price", in: 0.5...1e4),
      Guide("mail", format: .email), Guide("stops", count: 0...3), Guide("kind", choices: ["rail", "ship"]),
      Guide("code", pattern: "[A-Z]{3}"),
    ]
  }
}

struct Point: Decodable, Sendable, SchemaProviding {
  var (x, y): (Double, Double)
  static var jsonSchema: JSONSchema { .tuple(of: [.number(), .number(in: -1...1)]) }
  init(from decoder: any Decoder) throws {
    var values = try decoder.unkeyedContainer()
    (x, y) = (try values.decode(Double.self), try values.decode(Double.self))
  }
}

func schemas() throws {
  let formats: [StringFormat] = [
    .date, .time, .dateTime, .duration, .email, .hostname, .ipv4, .ipv6, .uri, .uuid, .base64,
  ]
  let schema = JSONSchema.object([
    .init("when", .string(format: formats[0])), .init("flags", .array(of: .boolean, count: 0...4)),
    .init("more", .dictionary(of: .string()).described("Anything else."), isRequired: false),
  ])
  var request = Request(messages: [.system("Answer in JSON."), .user("When?")])
  request.grammar = .matching(schema)
  print(request, try JSONSchema(json: #"{"type":"object"}"#), try JSONSchema.derived(from: Trip.self))
  let tool = Tool(name: "move", description: "Moves.", parameters: Point.jsonSchema) { (point: Point) in "\(point.x)" }
  print(tool.definition)
}

func rules(_ engine: Engine, _ session: ChatSession) async throws {
  let banned = LogitProcessor { row in row[5] = -.infinity }
  let greedy = LogitProcessor.sampler { row in
    Int32(row.logits.indices.max { row.logits[$0] < row.logits[$1] } ?? 0)
  }
  var request = Request(prompt: .text("Once upon a time"))
  request.logitProcessor = banned
  print(try await engine.respond(to: request))
  print(try await session.respond(to: "Hi", options: ResponseOptions(logitProcessor: greedy)))
  let sampling = SamplingParameters(
    xtc: .init(probability: 0.5), dynamicTemperature: .init(range: 0.5), dry: .init(multiplier: 0.8))
  print(try await engine.respond(to: "Hi", sampling: sampling))
  var row = LogitRow(logits: [0, 1], tokens: [7, 8], promptTokenCount: 1)
  try greedy.apply(to: &row)
  print(row.chosenToken as Any, row.answerTokens)
}

func prefixes(_ engine: Engine, _ session: ChatSession, _ file: URL) async throws {
  let pin = try await session.pinPrefix()
  print(pin.tokenCount)
  pin.unpin()
  try await session.saveState(to: file)
  print(try await session.restoreState(from: file))
  let tokens = try engine.promptTokens(of: Request("Hi"))
  let other = try await engine.pinPrefix(of: tokens)
  try await engine.savePrefix(of: tokens, to: file)
  try await engine.restorePrefix(from: file)
  withExtendedLifetime(other) {}
}

func adapters(_ engine: Engine, _ folder: URL) async throws {
  try await engine.loadLora(LoraAdapter(name: "poet", folder: folder.path))
  var request = Request("Describe the sea.")
  request.lora = "poet"
  print(engine.loras, try await engine.respond(to: request))
  try engine.unloadLora(named: "poet")
}

/// A tokenizer of the client's own, around that of a model.
struct OwnTokenizer: ChatTokenizer {
  var base: Tokenizer
  func encode(_ messages: [Message], tools: [ToolDefinition], thinking: Bool?) throws -> [Int32] {
    try base.encode(messages.map(\.content).joined(separator: "\n"), parsingSpecialTokens: true)
  }
  func encodeWithControlTokens(_ text: String) throws -> [Int32] { try base.encodeWithControlTokens(text) }
  func decode(_ ids: [Int32], skippingSpecialTokens: Bool) throws -> String {
    try base.decode(ids.filter { !base.isSpecial($0) })
  }
  func id(of token: String) -> Int32? { base.id(of: token) }
}

func tokenizers(_ engine: Engine) async throws {
  guard let base = engine.tokenizer else { return }
  let own = OwnTokenizer(base: base)
  print(base.spelling(of: 5) ?? "", try await engine.respond(to: Request("Hi"), tokenizer: own))
  for try await event in engine.submit(Request("Hi"), tokenizer: own) { print(event) }
}
