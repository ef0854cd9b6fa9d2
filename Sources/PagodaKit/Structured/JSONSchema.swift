// JSONSchema: the schema of a JSON document, built from parts, read from text or derived from a Decodable type.

/// The schema of a JSON document, for an answer that must match it or for the arguments of a tool.
///
/// ```swift
/// let city = JSONSchema.object([
///   .init("name", .string(maximumLength: 40)),
///   .init("population", .integer(in: 0...100_000_000), description: "In the city proper."),
///   .init("river", .string(), isRequired: false),
/// ])
/// ```
///
/// ``derived(from:decoder:)`` creates one from a `Decodable` type. Properties keep the order of their declaration.
public struct JSONSchema: Hashable, Sendable {
  /// One property of an object.
  public struct Property: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// The schema of its value.
    public var schema: JSONSchema
    /// Whether it is required.
    public var isRequired: Bool

    /// A property, optionally with a description for the model.
    public init(_ name: String, _ schema: JSONSchema, description: String? = nil, isRequired: Bool = true) {
      self.name = name
      self.schema = description.map { schema.described($0) } ?? schema
      self.isRequired = isRequired
    }
  }

  package var value: JSONValue

  package init(value: JSONValue) { self.value = value }

  /// A schema from its JSON text, with any keyword of `docs/structured-output.md`. Throws if the text is not a JSON
  /// object.
  public init(json: String) throws {
    guard let value = JSONValue.parse(json), value.objectValue != nil else {
      throw PagodaError.invalidArgument("a JSON schema is a JSON object, which this is not: \(json.prefix(200))")
    }
    self.value = value
  }

  /// The JSON text.
  public var json: String { value.text }

  /// An object with these properties and no others.
  public static func object(_ properties: [Property]) -> JSONSchema {
    let members = properties.map { JSONValue.Member(key: $0.name, value: $0.schema.value) }
    return JSONSchema(
      value: .object([
        "type": .string("object"), "properties": .object(members),
        "required": .array(properties.filter(\.isRequired).map { .string($0.name) }),
        "additionalProperties": .bool(false),
      ]))
  }

  /// An object with arbitrary names whose values share one schema.
  public static func dictionary(of values: JSONSchema) -> JSONSchema {
    JSONSchema(
      value: .object(["type": .string("object"), "additionalProperties": values.value]))
  }

  /// A list.
  public static func array(of items: JSONSchema, count: ClosedRange<Int>? = nil) -> JSONSchema {
    JSONSchema(value: .object(["type": .string("array"), "items": items.value]))
      .with("minItems", count.map { .integer(Int64($0.lowerBound)) })
      .with("maxItems", count.map { .integer(Int64($0.upperBound)) })
  }

  /// A list with one element for each of these schemas.
  public static func tuple(of items: [JSONSchema]) -> JSONSchema {
    if let first = items.first, items.allSatisfy({ $0 == first }) {
      return .array(of: first, count: items.count...items.count)
    }
    let count = JSONValue.integer(Int64(items.count))
    return JSONSchema(
      value: .object([
        "type": .string("array"), "prefixItems": .array(items.map(\.value)), "minItems": count, "maxItems": count,
      ]))
  }

  /// A string. `pattern` is a regular expression of ECMA-262.
  public static func string(
    minimumLength: Int? = nil, maximumLength: Int? = nil, pattern: String? = nil, format: StringFormat? = nil
  ) -> JSONSchema {
    JSONSchema(value: .object(["type": .string("string")]))
      .with("minLength", minimumLength.map { .integer(Int64($0)) })
      .with("maxLength", maximumLength.map { .integer(Int64($0)) })
      .with("pattern", pattern.map { .string($0) })
      .with("format", format.map { .string($0.rawValue) })
  }

  /// One of these strings.
  public static func oneOf(_ choices: [String]) -> JSONSchema {
    JSONSchema(value: .object(["type": .string("string"), "enum": .array(choices.map { .string($0) })]))
  }

  /// An integer.
  public static func integer(in range: ClosedRange<Int>? = nil) -> JSONSchema {
    JSONSchema(value: .object(["type": .string("integer")]))
      .with("minimum", range.map { .integer(Int64($0.lowerBound)) })
      .with("maximum", range.map { .integer(Int64($0.upperBound)) })
  }

  /// A number.
  public static func number(in range: ClosedRange<Double>? = nil) -> JSONSchema {
    JSONSchema(value: .object(["type": .string("number")]))
      .with("minimum", range.map { .number($0.lowerBound) })
      .with("maximum", range.map { .number($0.upperBound) })
  }

  /// True or false.
  public static let boolean = JSONSchema(value: .object(["type": .string("boolean")]))

  /// The same schema with a description for the model.
  public func described(_ description: String) -> JSONSchema { with("description", .string(description)) }

  /// An object's schema with one property replaced, for example a derived one that needs limits or a description.
  /// Throws if the object has no such property.
  public func replacing(_ name: String, with schema: JSONSchema) throws -> JSONSchema {
    _ = try property(name)
    guard case .object(var properties)? = value["properties"] else { return self }
    for index in properties.indices where properties[index].key == name { properties[index].value = schema.value }
    return with("properties", .object(properties))
  }

  /// The schema of a property; throws an error that names those that exist.
  func property(_ name: String) throws -> JSONSchema {
    let properties = value["properties"]?.objectValue ?? []
    guard let property = properties.last(where: { $0.key == name }) else {
      let names = properties.map { "'\($0.key)'" }.joined(separator: ", ")
      throw PagodaError.invalidArgument(
        "the schema has no property '\(name)'; it has \(names.isEmpty ? "none" : names)")
    }
    return JSONSchema(value: property.value)
  }

  func with(_ key: String, _ newValue: JSONValue?) -> JSONSchema {
    guard let newValue, case .object(var members) = value else { return self }
    if let index = members.firstIndex(where: { $0.key == key }) {
      members[index].value = newValue
    } else {
      members.append(.init(key: key, value: newValue))
    }
    return JSONSchema(value: .object(members))
  }
}

/// The format of a string, such as `.date` or `"date"`.
///
/// ```swift
/// let schema = JSONSchema.object([.init("born", .string(format: .date)), .init("mail", .string(format: .email))])
/// ```
public struct StringFormat: RawRepresentable, ExpressibleByStringLiteral, Hashable, Sendable {
  /// Its name in a JSON schema.
  public var rawValue: String

  /// A format by its name in a JSON schema.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// A format by its name in a JSON schema.
  public init(stringLiteral name: String) { rawValue = name }

  /// `2026-11-18`.
  public static let date: StringFormat = "date"
  /// `02:30:00Z`.
  public static let time: StringFormat = "time"
  /// `2026-11-18T02:30:00Z`.
  public static let dateTime: StringFormat = "date-time"
  /// `P3D` or `PT2H30M`.
  public static let duration: StringFormat = "duration"
  /// A UUID in lower case.
  public static let uuid: StringFormat = "uuid"
  /// An e-mail address.
  public static let email: StringFormat = "email"
  /// The name of a host.
  public static let hostname: StringFormat = "hostname"
  /// An IPv4 address.
  public static let ipv4: StringFormat = "ipv4"
  /// An IPv6 address.
  public static let ipv6: StringFormat = "ipv6"
  /// A URI with its scheme.
  public static let uri: StringFormat = "uri"
  /// Bytes in Base64.
  public static let base64: StringFormat = "byte"
}
