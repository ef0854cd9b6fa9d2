// Tools: functions that a model may call, their calls, and typed arguments.
internal import Foundation

/// A function that a model may call, as the model sees it.
public struct ToolDefinition: Hashable, Sendable, Codable {
  /// The name the model calls it by.
  public var name: String
  /// A description for the model.
  public var description: String
  /// JSON schema of the object of its arguments.
  public var parameters: String

  /// A function with the form of its arguments.
  public init(name: String, description: String, parameters: JSONSchema) {
    self.init(name: name, description: description, parameters: parameters.json)
  }

  /// A function with the JSON text of the schema of its arguments.
  public init(name: String, description: String, parameters: String = #"{"type":"object","properties":{}}"#) {
    self.name = name
    self.description = description
    self.parameters = parameters
  }

  /// In OpenAI's shape, which chat templates expect.
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

/// A call of a tool, as a model made it.
public struct ToolCall: Hashable, Sendable, Codable, Identifiable {
  /// Tells calls apart; results name it.
  public var id: String
  /// The tool.
  public var name: String
  /// The JSON object of its arguments.
  public var arguments: String

  /// A call of a tool.
  public init(id: String, name: String, arguments: String) {
    self.id = id
    self.name = name
    self.arguments = arguments
  }

  /// The arguments as a value of a type of yours.
  public func decodeArguments<Arguments: Decodable>(as type: Arguments.Type = Arguments.self) throws -> Arguments {
    do {
      return try JSONDecoder().decode(type, from: Data(arguments.utf8))
    } catch {
      throw PagodaError.invalidArgument("the arguments of '\(name)' are not what it takes: \(arguments)")
    }
  }

  var json: JSONValue {
    .object([
      "id": .string(id), "type": .string("function"),
      "function": .object(["name": .string(name), "arguments": JSONValue.parse(arguments) ?? .string(arguments)]),
    ])
  }
}

/// A tool that a ``ChatSession`` runs by itself when the model calls it.
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

  /// A tool whose arguments are a value of a type of yours. What it returns, or the error it throws, goes to the model.
  /// Fails where the schema of the type cannot be derived (``JSONSchema/derived(from:)``).
  public init<Arguments: Decodable & Sendable>(
    name: String, description: String, _ body: @escaping @Sendable (Arguments) async throws -> String
  ) throws {
    self.init(name: name, description: description, parameters: try .derived(from: Arguments.self), body)
  }

  /// The same with a schema of its own.
  public init<Arguments: Decodable & Sendable>(
    name: String, description: String, parameters: JSONSchema,
    _ body: @escaping @Sendable (Arguments) async throws -> String
  ) {
    definition = ToolDefinition(name: name, description: description, parameters: parameters)
    self.body = { try await body(try $0.decodeArguments()) }
  }

  /// A tool that reads its arguments itself.
  public init(_ definition: ToolDefinition, _ body: @escaping @Sendable (ToolCall) async throws -> String) {
    self.definition = definition
    self.body = body
  }
}
