// ValueForms: how a JSONDecoder reads dates and keys, so that schemas and partial values agree with it.
internal import Foundation

extension JSONDecoder {
  /// The decoder of answers and arguments: dates as in RFC 3339, with or without fractions of seconds, as the schema
  /// format `date-time` allows. (The strategy `iso8601` refuses fractions.)
  static let answers: JSONDecoder = {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let text = try decoder.singleValueContainer().decode(String.self)
      if let date = Date(internetTime: text) { return date }
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "'\(text)' is no date and time of ISO 8601"))
    }
    return decoder
  }()
}

extension Date {
  /// `2026-11-18T02:30:00Z`, also with fractions of seconds and with an offset instead of `Z`.
  init?(internetTime text: String) {
    let digits = text.firstIndex(of: ".").map { text[$0...].dropFirst().prefix { $0.isASCII && $0.isNumber } } ?? ""
    let whole = digits.isEmpty ? text : text.replacing(".\(digits)", with: "", maxReplacements: 1)
    guard let date = ISO8601DateFormatter().date(from: whole) else { return nil }
    self = date.addingTimeInterval(digits.isEmpty ? 0 : Double("0.\(digits)") ?? 0)
  }
}

/// The forms of dates and keys that a decoder reads.
struct ValueForms: Sendable {
  let decoder: JSONDecoder

  /// Nil means the decoder of answers.
  init(_ decoder: JSONDecoder? = nil) { self.decoder = decoder ?? .answers }

  var dateSchema: JSONSchema {
    switch decoder.dateDecodingStrategy {
    case .deferredToDate, .secondsSince1970, .millisecondsSince1970: return .number()
    case .iso8601:
      let date = "[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"  // days that every month has
      return .string(pattern: "^\(date)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$")
    default: return decoder === JSONDecoder.answers ? .string(format: .dateTime) : .string()
    }
  }

  /// The date of a part of an answer; the reference date if the part is missing or incomplete.
  func date(_ source: JSONValue?) -> Date {
    let read = source.flatMap { try? decoder.decode([Date].self, from: Data("[\($0.text)]".utf8)).first }
    return read ?? Date(timeIntervalSinceReferenceDate: 0)
  }

  /// The name of a key in JSON.
  func name(of key: any CodingKey) -> String {
    guard case .convertFromSnakeCase = decoder.keyDecodingStrategy else { return key.stringValue }
    var name = ""
    for character in key.stringValue {
      if character.isUppercase && !name.isEmpty { name.append("_") }
      name += character.lowercased()
    }
    return name
  }

  /// Throws if the names in JSON cannot be derived.
  func checkKeys() throws {
    if case .custom = decoder.keyDecodingStrategy {
      throw PagodaError.unsupported(
        "no schema can be derived for a decoder with custom keys; state one with SchemaProviding")
    }
  }

  func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try decoder.decode(type, from: Data(text.utf8))
  }
}
