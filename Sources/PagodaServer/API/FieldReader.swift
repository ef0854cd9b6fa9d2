// FieldReader: the members of a request's body, read by name with their kinds and ranges checked.
import PagodaKit

/// How an endpoint treats the fields of its requests. A field in none of the lists is ignored, and listed in the
/// header `x-pagoda-ignored-fields` of the answer, so that clients can notice.
struct FieldTable: Sendable {
  var known: Set<String>
  /// Fields without an effect on the answer; silently ignored.
  var ignored: Set<String>
  /// Fields that would change the answer slightly and are ignored; listed in the header unless their value is the
  /// default behaviour.
  var noted: [String: [JSONValue]] = [:]
  /// Fields that would change the answer and are not supported: refused unless their value is the default behaviour.
  var refused: [String: [JSONValue]]
}

struct FieldReader {
  let members: [JSONValue.Member]
  let path: String  // of the object inside the body, such as `messages[3].`
  private(set) var unknown: [String] = []
  /// Nil refuses all media.
  var media: MediaRule?

  /// No client needs more: the longest prompt is a million tokens, and 10,000 messages have a few members each. A body
  /// of 16 MB could have two million members, which take seconds to read.
  static let limits = {
    var limits = JSONValue.Limits()
    limits.fields = 1000
    limits.members = 200_000
    limits.values = 4_000_000
    return limits
  }()

  /// The body of a request.
  init(body: [UInt8], table: FieldTable) throws {
    if body.isEmpty { throw APIError.invalid("the request has no body; it must be a JSON object") }
    let value: JSONValue
    do {
      value = try JSONValue.parse(body, limits: Self.limits)
    } catch  where error.isTooMuch {
      throw APIError.invalid("the body has \(error.message) (at byte \(error.offset))")
    } catch {
      throw APIError.invalid("the body is not valid JSON: \(error.message) (at byte \(error.offset))")
    }
    guard let members = value.objectValue else { throw APIError.invalid("the body must be a JSON object") }
    self.init(members)
    for member in members where member.value != .null {
      if table.known.contains(member.key) || table.ignored.contains(member.key) { continue }
      if let harmless = table.noted[member.key] {
        if !harmless.contains(member.value) { unknown.append(member.key) }
        continue
      }
      guard let harmless = table.refused[member.key] else {
        unknown.append(member.key)
        continue
      }
      if !harmless.contains(member.value) {
        throw APIError.invalid("\(member.key) is not supported by this server", param: member.key)
      }
    }
  }

  /// An object inside the body.
  init(_ members: [JSONValue.Member], path: String = "", media: MediaRule? = nil) {
    self.members = members
    self.path = path
    self.media = media
  }

  /// Nil when the member is missing or null.
  subscript(key: String) -> JSONValue? {
    guard let value = members.first(where: { $0.key == key })?.value, value != .null else { return nil }
    return value
  }

  private func refuse(_ key: String, _ value: JSONValue, _ rule: String) -> APIError {
    .invalid("\(path)\(key) is \(value.shortText); it must be \(rule)", param: path + key)
  }

  func missing(_ key: String) -> APIError {
    .invalid("\(path)\(key) is missing", param: path + key, code: "missing_required_parameter")
  }

  func string(_ key: String, maximumBytes: Int = .max) throws -> String? {
    guard let value = self[key] else { return nil }
    guard let text = value.stringValue else { throw refuse(key, value, "a string") }
    if text.utf8.count > maximumBytes {
      throw APIError.invalid("\(path)\(key) has more than \(maximumBytes) bytes", param: path + key)
    }
    return text
  }

  func choice(_ key: String, of choices: [String]) throws -> String? {
    guard let text = try string(key) else { return nil }
    guard choices.contains(text) else { throw refuse(key, .string(text), "one of \(choices.joined(separator: ", "))") }
    return text
  }

  func flag(_ key: String) throws -> Bool? {
    guard let value = self[key] else { return nil }
    guard let flag = value.boolValue else { throw refuse(key, value, "true or false") }
    return flag
  }

  func integer(_ key: String, in range: ClosedRange<Int64>) throws -> Int? {
    guard let value = self[key] else { return nil }
    guard let number = value.intValue, range.contains(number) else {
      throw refuse(key, value, "a whole number \(words(for: range))")
    }
    return Int(number)
  }

  /// The class that a client asks for; 0 by default.
  func priority() throws -> Int { try integer("priority", in: Int64(Int32.min)...Int64(Int32.max)) ?? 0 }

  /// A token limit; -1 means none, as in llama.cpp.
  func tokenLimit(_ key: String) throws -> Int? {
    self[key] == .integer(-1) ? nil : try integer(key, in: 1...Int64(Int32.max))
  }

  func array(_ key: String) throws -> [JSONValue]? {
    guard let value = self[key] else { return nil }
    guard let array = value.arrayValue else { throw refuse(key, value, "an array") }
    return array
  }

  func object(_ key: String) throws -> FieldReader? {
    guard let value = self[key] else { return nil }
    guard let members = value.objectValue else { throw refuse(key, value, "an object") }
    return FieldReader(members, path: "\(path)\(key).", media: media)
  }

  /// Each element of an array as an object.
  func objects(_ key: String, maximum: Int) throws -> [FieldReader]? {
    guard let values = try array(key) else { return nil }
    if values.count > maximum {
      throw APIError.invalid(
        "\(path)\(key) has \(values.count) elements; at most \(maximum) are allowed", param: path + key)
    }
    return try values.enumerated().map { index, value in
      guard let members = value.objectValue else { throw refuse("\(key)[\(index)]", value, "an object") }
      return FieldReader(members, path: "\(path)\(key)[\(index)].", media: media)
    }
  }

  func tokenIDs(_ values: [JSONValue], of key: String, below limit: Int) throws -> [Int32] {
    try values.map { value in
      guard let number = value.intValue, number >= 0, number < Int64(limit) else {
        throw refuse(key, value, "token ids, whole numbers from 0 to \(limit - 1)")
      }
      return Int32(number)
    }
  }

  /// The sampling fields among the members; `keys` are those that the endpoint supports.
  func sampling(_ keys: Set<String>) throws -> SamplingParameters {
    var sampling = SamplingParameters()
    for field in SamplingField.all where keys.contains(field.key) {
      guard var value = self[field.key] else { continue }
      if ["max_tokens", "seed"].contains(field.key), value == .integer(-1) { continue }  // llama.cpp's "unset"
      if field.key == "top_k", value == .integer(-1) { value = .integer(0) }  // vLLM's "all"
      if field.key == "top_p", value.doubleValue == 0 { continue }
      try field.apply(value, to: &sampling)
    }
    // Only the most likely token is left.
    if keys.contains("top_p"), self["top_p"]?.doubleValue == 0 { sampling.temperature = 0 }
    if let ids = try array("stop_token_ids") {
      if ids.count > 1024 { throw APIError.invalid("stop_token_ids has more than 1024 ids", param: "stop_token_ids") }
      sampling.stopTokens = try tokenIDs(ids, of: "stop_token_ids", below: Int(Int32.max))
    }
    return sampling
  }
}
