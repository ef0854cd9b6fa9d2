// FillingDecoder: decodes any type from incomplete or missing JSON, fills in missing parts, and records the schema.
internal import Foundation

/// A value made from the available JSON, and the schema of its type.
struct Filled<Value> {
  var value: Value
  var schema: JSONSchema
}

/// Decodes from JSON that may be partly or completely missing: missing parts become empty strings and lists, zero,
/// false, nil, or the first case. When deriving, the keys and types that are requested become the schema.
final class FillingDecoder: Decoder {
  let source: JSONValue?
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { forms.decoder.userInfo }
  let forms: ValueForms
  /// The enclosing types being decoded, outermost first; nil if no schema is derived.
  let types: [Any.Type]?
  private(set) var schema: JSONSchema?
  private(set) var properties: [JSONSchema.Property] = []
  private var items: [JSONSchema] = []  // of an unkeyed container
  private var isList = false  // whether the number of items was asked for; otherwise they are a tuple

  init(_ source: JSONValue?, _ codingPath: [any CodingKey], types: [Any.Type]?, _ forms: ValueForms) {
    self.forms = forms
    self.source = source
    self.codingPath = codingPath
    self.types = types
  }

  static func read<Value: Decodable>(
    _ type: Value.Type, from source: JSONValue?, at path: [any CodingKey] = [], inside types: [Any.Type]?,
    _ forms: ValueForms
  ) throws -> Filled<Value> {
    if let types, types.contains(where: { $0 == type }) {
      throw PagodaError.unsupported("\(type) contains itself; state its schema with SchemaProviding")
    }
    if types != nil, let stated = (type as? any SchemaProviding.Type)?.jsonSchema {
      return Filled(value: try read(type, from: source, at: path, inside: nil, forms).value, schema: stated)
    }
    if let known = KnownForms.read(type, from: source, forms) { return known }
    if let cases = try KnownForms.cases(of: type, from: source) { return cases }
    if let dictionary = type as? any TextKeyed.Type,
      let filled = try dictionary.filled(source, path, types.map { $0 + [type] }, forms) as? Filled<Value>
    {
      return filled
    }
    let decoder = FillingDecoder(source, path, types: types.map { $0 + [type] }, forms)
    let value: Value
    do {
      value = try type.init(from: decoder)
    } catch let error as PagodaError {
      throw error
    } catch {
      throw PagodaError.unsupported(
        "no schema can be derived for \(type): its init(from:) refused an empty value (\(error)); "
          + "state one with SchemaProviding, or make an enumeration CaseIterable")
    }
    let guides = types == nil ? [] : (type as? any Guided.Type)?.guides ?? []
    return Filled(value: value, schema: try decoder.wholeSchema.guided(by: guides))
  }

  private var wholeSchema: JSONSchema {
    if let first = items.first { return isList ? .array(of: first) : .tuple(of: items) }
    return schema ?? .object(properties)
  }

  func note(_ schema: JSONSchema) { self.schema = schema }

  func note(item: JSONSchema) { if types != nil { items.append(item) } }

  func noteList() { isList = true }

  func note(_ property: JSONSchema.Property) {
    if !properties.contains(where: { $0.name == property.name }) { properties.append(property) }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(FillingObject<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { FillingArray(self) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { FillingValue(decoder: self) }
}

struct FillingObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: FillingDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { decoder.source?.objectValue?.compactMap { Key(stringValue: $0.key) } ?? [] }

  func contains(_ key: Key) -> Bool { true }  // otherwise a type that asks first would skip the key

  func decodeNil(forKey key: Key) throws -> Bool { part(key) == .null }

  private func part(_ key: Key) -> JSONValue? { decoder.source?[decoder.forms.name(of: key)] }

  private func read<Value: Decodable>(_ type: Value.Type, _ key: Key, isRequired: Bool) throws -> Value {
    let part = part(key)
    let filled = try FillingDecoder.read(
      type, from: part == .null ? nil : part, at: codingPath + [key], inside: decoder.types, decoder.forms)
    decoder.note(JSONSchema.Property(decoder.forms.name(of: key), filled.schema, isRequired: isRequired))
    return filled.value
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try read(type, key, isRequired: true)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try optional(type, key)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(type, key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(type, key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }

  private func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
    let part = part(key)
    let isMissing = part == nil || part == .null
    if isMissing && decoder.types == nil { return nil }
    let value = try read(type, key, isRequired: false)
    return isMissing ? nil : value
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw unreadable(key) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw unreadable(key) }
  func superDecoder() throws -> any Decoder { throw PagodaError.unsupported("classes that inherit have no schema") }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw unreadable(key) }

  private func unreadable(_ key: Key) -> PagodaError {
    .unsupported("'\(key.stringValue)' is read by hand; state the schema of its type with SchemaProviding")
  }
}

/// The available items; when a schema is derived, one empty item, so that its type is known.
struct FillingArray: UnkeyedDecodingContainer {
  let decoder: FillingDecoder
  private let items: [JSONValue?]
  private(set) var currentIndex = 0

  init(_ decoder: FillingDecoder) {
    self.decoder = decoder
    items = decoder.types != nil ? [nil] : (decoder.source?.arrayValue ?? []).map(Optional.some)
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? {
    decoder.noteList()
    return items.count
  }
  var isAtEnd: Bool {
    decoder.noteList()
    return hasEnded
  }
  private var hasEnded: Bool { currentIndex >= items.count }

  mutating func decodeNil() throws -> Bool {
    guard !hasEnded, items[currentIndex] == .null else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let item = hasEnded ? nil : items[currentIndex]
    let filled = try FillingDecoder.read(type, from: item, at: codingPath, inside: decoder.types, decoder.forms)
    currentIndex += 1
    decoder.note(item: filled.schema)
    return filled.value
  }

  mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw PagodaError.unsupported("items that are read by hand need a schema: SchemaProviding")
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw PagodaError.unsupported("items that are read by hand need a schema: SchemaProviding")
  }

  mutating func superDecoder() throws -> any Decoder {
    throw PagodaError.unsupported("classes that inherit have no schema")
  }
}

struct FillingValue: SingleValueDecodingContainer {
  let decoder: FillingDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.source == .null }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let filled = try FillingDecoder.read(
      type, from: decoder.source, at: codingPath, inside: decoder.types, decoder.forms)
    decoder.note(filled.schema)
    return filled.value
  }
}
