// Derivation of a schema from a Decodable type: the type decodes itself from nothing while its questions are written down.

/// A type that states its own schema, where the derived one is too wide: with limits, formats or descriptions.
///
/// ```swift
/// struct City: Decodable, SchemaProviding {
///   var name: String
///   static var jsonSchema: JSONSchema { .object([.init("name", .string(maximumLength: 40))]) }
/// }
/// ```
public protocol SchemaProviding {
  /// The form of its JSON.
  static var jsonSchema: JSONSchema { get }
}

extension JSONSchema {
  /// The schema of a type, as its `init(from:)` reads it: properties in the order in which they are read, optionals not
  /// required, enumerations by the raw values of their cases.
  ///
  /// Structures, arrays, dictionaries with text keys, numbers, texts, `Bool`, `Date`, `URL`, `UUID`, and enumerations with
  /// raw values that are `CaseIterable` are understood; anything else, and a type that contains itself, is an error that
  /// names the type. A type with a `jsonSchema` of its own (``SchemaProviding``) is taken at its word.
  public static func derived<Value: Decodable>(from type: Value.Type) throws -> JSONSchema {
    try FillingDecoder.read(type, from: nil, inside: []).schema
  }
}
