// Derives a schema from a Decodable type: the type is decoded from nothing while its requests are recorded.
public import PagodaFoundation

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
  /// Supports structures, arrays, tuples (types that read a fixed number of elements), dictionaries with string keys,
  /// numbers, strings, `Bool`, `Date`, `URL`, `UUID`, and enumerations with raw values that are `CaseIterable`; anything
  /// else, and a type that contains itself, is an error that names the type. Guides (``Guided``) are added; the
  /// `jsonSchema` of a type that has one (``SchemaProviding``) is used unchanged.
  /// - Parameters:
  ///   - type: the type.
  ///   - decoder: the decoder that will read the JSON, whose strategies for dates and keys the schema follows; nil reads
  ///     dates in ISO 8601, such as `2026-11-18T02:30:00Z`.
  public static func derived<Value: Decodable>(
    from type: Value.Type, decoder: JSONDecoder? = nil
  ) throws -> JSONSchema {
    let forms = ValueForms(decoder)
    try forms.checkKeys()
    return try FillingDecoder.read(type, from: nil, inside: [], forms).schema
  }
}
