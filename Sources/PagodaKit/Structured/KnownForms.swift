// KnownForms: types whose JSON is a single value, and enumerations with raw values.
internal import Foundation

enum KnownForms {
  static func read<Value>(_ type: Value.Type, from source: JSONValue?, _ forms: ValueForms) -> Filled<Value>? {
    func made(_ value: Any, _ schema: JSONSchema) -> Filled<Value>? {
      (value as? Value).map { Filled(value: $0, schema: schema) }
    }
    let text = source?.stringValue ?? ""
    switch type {
    case is String.Type: return made(text, .string())
    case is Bool.Type: return made(source?.boolValue ?? false, .boolean)
    case is Double.Type: return made(source?.doubleValue ?? 0, .number())
    case is Float.Type: return made(Float(source?.doubleValue ?? 0), .number())
    case is Decimal.Type: return made(Decimal(source?.doubleValue ?? 0), .number())
    case is Date.Type: return made(forms.date(source), forms.dateSchema)
    case is Data.Type: return made(Data(base64Encoded: text) ?? Data(), .string(format: .base64))
    case is UUID.Type: return made(UUID(uuidString: text) ?? UUID(), .string(format: .uuid))
    case is URL.Type: return made(URL(string: text) ?? URL(filePath: "/"), .string(format: .uri))
    default:
      guard let integer = type as? any FixedWidthInteger.Type else { return nil }
      return made(number(integer, source?.intValue ?? 0), bounds(integer))
    }
  }

  private static func number<Number: FixedWidthInteger>(_ type: Number.Type, _ value: Int64) -> Any {
    Number(clamping: value)
  }

  /// The range of an integer type; 64-bit types get no limits, because answers do not reach them.
  private static func bounds<Number: FixedWidthInteger>(_ type: Number.Type) -> JSONSchema {
    if Number.bitWidth < 64 { return .integer(in: Int(Number.min)...Int(Number.max)) }
    return Number.isSigned ? .integer() : JSONSchema.integer().with("minimum", .integer(0))
  }

  /// An enumeration with raw values that can list its cases; nil for any other type.
  static func cases<Value>(of type: Value.Type, from source: JSONValue?) throws -> Filled<Value>? {
    guard let listed = type as? any CaseIterable.Type, type is any RawRepresentable.Type else { return nil }
    let values = all(listed).compactMap { $0 as? Value }
    let raws = values.compactMap { ($0 as? any RawRepresentable).flatMap { raw($0) } }
    guard let first = values.first, raws.count == values.count else { return nil }
    let found = source.flatMap { raws.firstIndex(of: $0) }.map { values[$0] }
    return Filled(value: found ?? first, schema: JSONSchema(value: .object(["enum": .array(raws)])))
  }

  private static func all<Listed: CaseIterable>(_ type: Listed.Type) -> [Any] { Array(type.allCases) }

  private static func raw<Kind: RawRepresentable>(_ value: Kind) -> JSONValue? {
    switch value.rawValue {
    case let text as String: .string(text)
    case let number as any FixedWidthInteger: .integer(Int64(clamping: number))
    default: nil
    }
  }
}

/// Dictionaries with string keys: the only container whose keys are not known beforehand.
protocol TextKeyed {
  static func filled(
    _ source: JSONValue?, _ path: [any CodingKey], _ types: [Any.Type]?, _ forms: ValueForms
  ) throws -> Any
}

extension Dictionary: TextKeyed where Key == String, Value: Decodable {
  static func filled(
    _ source: JSONValue?, _ path: [any CodingKey], _ types: [Any.Type]?, _ forms: ValueForms
  ) throws -> Any {
    var value: [String: Value] = [:]
    for member in source?.objectValue ?? [] {
      value[member.key] = try FillingDecoder.read(Value.self, from: member.value, at: path, inside: types, forms).value
    }
    if types == nil { return Filled(value: value, schema: .object([])) }
    let form = try FillingDecoder.read(Value.self, from: nil, at: path, inside: types, forms).schema
    return Filled(value: value, schema: .dictionary(of: form))
  }
}
