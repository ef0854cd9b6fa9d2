// Derives a schema from a Decodable type: the type is decoded from nothing while its requests are recorded.

/// A type that provides its own schema because the derived one is too permissive: with limits, formats or descriptions.
///
/// ```swift
/// struct City: Decodable, SchemaProviding {
///   var name: String
///   static var jsonSchema: JSONSchema { .object([.init("name", .string(maximumLength: 40))]) }
/// }
/// ```
public protocol SchemaProviding {
  /// The schema of its JSON.
  static var jsonSchema: JSONSchema { get }
}

extension JSONSchema {
  /// The schema of a type, as its `init(from:)` reads it: properties in the order in which they are read, optionals not
  /// required, enumerations by the raw values of their cases.
  ///
  /// Supports structures, arrays, dictionaries with string keys, numbers, strings, `Bool`, `Date`, `URL`, `UUID`, and
  /// enumerations with raw values that are `CaseIterable`; anything else, and a type that contains itself, is an error
  /// that names the type. The `jsonSchema` of a type that has one (``SchemaProviding``) is used unchanged.
  public static func derived<Value: Decodable>(from type: Value.Type) throws -> JSONSchema {
    try FillingDecoder.read(type, from: nil, inside: []).schema
  }
}
