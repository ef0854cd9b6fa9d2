// Tools: functions that a model may call, their calls, and typed arguments.
public import PagodaFoundation

/// A function that a model may call, as the model sees it.
///
/// ```swift
/// let definition = ToolDefinition(
///   name: "roll", description: "Rolls dice.", parameters: .object([.init("sides", .integer(in: 2...100))]))
/// let tool = Tool(definition) { call in "\(Int.random(in: 1...6))" }
/// ```
public struct ToolDefinition: Hashable, Sendable, Codable {
  /// The name by which the model calls it.
  public var name: String
  /// A description for the model.
  public var description: String
  /// The JSON schema of its arguments.
  public var parameters: String

  /// A function with the schema of its arguments.
  public init(name: String, description: String, parameters: JSONSchema) {
    self.init(name: name, description: description, parameters: parameters.json)
  }

  /// A function with the schema of its arguments as JSON text.
  public init(name: String, description: String, parameters: String = #"{"type":"object","properties":{}}"#) {
    self.name = name
    self.description = description
    self.parameters = parameters
  }

  /// The schema of its arguments; throws if ``parameters`` is not a JSON object.
  public var schema: JSONSchema { get throws { try JSONSchema(json: parameters) } }

  /// The declaration in OpenAI's format, which chat templates expect.
  package func json() throws -> JSONValue {
    guard let schema = JSONValue.parse(parameters), schema.objectValue != nil else {
      throw PagodaError.invalidArgument("the parameters of the tool '\(name)' are not a JSON object")
    }
    return .object([
      "type": .string("function"),
      "function": .object([
        "name": .string(name), "description": .string(description), "parameters": schema,
      ]),
    ])
  }
}

/// A tool call made by a model.
///
/// ```swift
/// struct Place: Decodable { var city: String }
/// if case .toolCall(let call) = event { print(call.name, try call.decodeArguments(as: Place.self).city) }
/// ```
public struct ToolCall: Hashable, Sendable, Codable, Identifiable {
  /// Identifies the call; its result refers to it.
  public var id: String
  /// The tool's name.
  public var name: String
  /// The arguments, as a JSON object.
  public var arguments: String

  /// A tool call.
  public init(id: String, name: String, arguments: String) {
    self.id = id
    self.name = name
    self.arguments = arguments
  }

  /// The arguments as a value of your own type. Without a decoder, dates are in ISO 8601.
  public func decodeArguments<Arguments: Decodable>(
    as type: Arguments.Type = Arguments.self, decoder: JSONDecoder? = nil
  ) throws -> Arguments {
    do {
      return try ValueForms(decoder).decode(type, arguments)
    } catch {
      throw PagodaError.invalidArgument("the arguments of '\(name)' do not match its parameters: \(arguments)")
    }
  }

  var json: JSONValue {
    .object([
      "id": .string(id), "type": .string("function"),
      "function": .object(["name": .string(name), "arguments": JSONValue.parse(arguments) ?? .string(arguments)]),
    ])
  }
}

/// A tool that a ``ChatSession`` runs itself when the model calls it.
///
/// ```swift
/// struct Place: Decodable, Sendable { var city: String }
/// let weather = try Tool(name: "get_weather", description: "The weather in a city.") { (place: Place) in
///   "18 degrees in \(place.city)"
/// }
/// ```
public struct Tool: Sendable {
  /// The declaration that the model sees.
  public var definition: ToolDefinition
  let body: @Sendable (ToolCall) async throws -> String

  /// A tool whose arguments are a value of your own type. Its result is sent to the model; for its errors, see
  /// ``ChatSession/toolFailures``. Throws if the schema of the type cannot be derived
  /// (``JSONSchema/derived(from:decoder:)``).
  /// - Parameters:
  ///   - name: the name by which the model calls it.
  ///   - description: a description for the model.
  ///   - decoder: the decoder that reads the arguments; nil reads dates in ISO 8601.
  ///   - body: the function.
  public init<Arguments: Decodable & Sendable>(
    name: String, description: String, decoder: JSONDecoder? = nil,
    _ body: @escaping @Sendable (Arguments) async throws -> String
  ) throws {
    let schema = try JSONSchema.derived(from: Arguments.self, decoder: decoder)
    self.init(name: name, description: description, parameters: schema, decoder: decoder, body)
  }

  /// The same with an explicit schema.
  public init<Arguments: Decodable & Sendable>(
    name: String, description: String, parameters: JSONSchema, decoder: JSONDecoder? = nil,
    _ body: @escaping @Sendable (Arguments) async throws -> String
  ) {
    definition = ToolDefinition(name: name, description: description, parameters: parameters)
    self.body = { try await body(try $0.decodeArguments(decoder: decoder)) }
  }

  /// A tool without arguments.
  public init(
    _ name: String, description: String = "", _ body: @escaping @Sendable () async throws -> String
  ) {
    self.init(ToolDefinition(name: name, description: description)) { _ in try await body() }
  }

  /// A tool whose arguments are a value of your own type, by its name.
  public init<Arguments: Decodable & Sendable>(
    _ name: String, description: String = "", _ body: @escaping @Sendable (Arguments) async throws -> String
  ) throws {
    try self.init(name: name, description: description, body)
  }

  /// A tool that decodes its arguments itself.
  public init(_ definition: ToolDefinition, _ body: @escaping @Sendable (ToolCall) async throws -> String) {
    self.definition = definition
    self.body = body
  }
}
