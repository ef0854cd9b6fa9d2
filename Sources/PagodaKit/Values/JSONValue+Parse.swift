// Strict JSON parsing: text that two parsers could interpret differently (a duplicate member, half a surrogate pair, a
// number beyond double) is refused, and so is nesting that would exhaust the stack. Members keep their order.
internal import Foundation

extension JSONValue {
  /// Why a text is not JSON, and the byte offset of the error.
  package struct ParseError: Error, Equatable {
    package var message: String
    package var offset: Int
    /// The text has more than its limits allow, and may be JSON.
    package var isTooMuch = false
  }

  /// How much a text may contain: small parts cost more to read than their bytes suggest.
  package struct Limits: Sendable {
    package var fields = Int.max  // members of the outermost object
    package var members = Int.max  // of all objects
    package var values = Int.max  // of all kinds

    package init() {}
  }

  package static let maximumDepth = 64

  /// The value of a JSON text; nil if it is not JSON.
  package static func parse(_ text: String) -> JSONValue? { try? parse(Array(text.utf8)) }

  package static func parse(_ bytes: [UInt8], limits: Limits = Limits()) throws(ParseError) -> JSONValue {
    guard String(bytes: bytes, encoding: .utf8) != nil else { throw ParseError(message: "it is not UTF-8", offset: 0) }
    var reader = JSONReader(bytes: bytes, limits: limits)
    return try reader.document()
  }
}

/// `bytes` must be valid UTF-8.
private struct JSONReader {
  let bytes: [UInt8]
  let limits: JSONValue.Limits
  var position = 0
  private var members = 0
  private var values = 0

  init(bytes: [UInt8], limits: JSONValue.Limits) {
    self.bytes = bytes
    self.limits = limits
  }

  typealias Failure = JSONValue.ParseError

  mutating func document() throws(Failure) -> JSONValue {
    let value = try self.value(depth: 0)
    skipSpace()
    if position < bytes.count { throw failure("there is trailing data after the value") }
    return value
  }

  private func failure(_ message: String) -> Failure { Failure(message: message, offset: position) }

  private func tooMuch(_ what: String) -> Failure { Failure(message: what, offset: position, isTooMuch: true) }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard let byte = next, UInt32(byte) == character.value else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(Failure) -> JSONValue {
    skipSpace()
    values += 1
    if values > limits.values { throw tooMuch("more than \(limits.values) values") }
    guard let byte = next else { throw failure("it ends where a value is expected") }
    switch byte {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws(Failure) -> JSONValue {
    guard bytes[position...].starts(with: word.utf8) else { throw failure("there is no such value") }
    position += word.utf8.count
    return value
  }

  private mutating func enter(_ depth: Int) throws(Failure) {
    if depth >= JSONValue.maximumDepth {
      throw failure("it is nested deeper than \(JSONValue.maximumDepth) levels")
    }
    position += 1
    skipSpace()
  }

  private mutating func array(depth: Int) throws(Failure) -> JSONValue {
    try enter(depth)
    var values: [JSONValue] = []
    if take("]") { return .array(values) }
    repeat {
      values.append(try value(depth: depth + 1))
      skipSpace()
    } while take(",")
    guard take("]") else { throw failure("an array is not closed") }
    return .array(values)
  }

  private mutating func object(depth: Int) throws(Failure) -> JSONValue {
    try enter(depth)
    var members: [JSONValue.Member] = []
    var keys: Set<String> = []  // empty while there are few
    if take("}") { return .object(members) }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw failure("a member has no name") }
      let key = try string()
      try count(members.count + 1, depth: depth)
      if members.count == 8 { keys = Set(members.map(\.key)) }
      let isNew = members.count < 8 ? !members.contains { $0.key == key } : keys.insert(key).inserted
      if !isNew { throw failure("the member '\(key.prefix(100))' occurs twice") }
      skipSpace()
      guard take(":") else { throw failure("a member has no colon") }
      members.append(JSONValue.Member(key: key, value: try value(depth: depth + 1)))
      skipSpace()
    } while take(",")
    guard take("}") else { throw failure("an object is not closed") }
    return .object(members)
  }

  private mutating func count(_ ownMembers: Int, depth: Int) throws(Failure) {
    members += 1
    if depth == 0, ownMembers > limits.fields { throw tooMuch("more than \(limits.fields) fields") }
    if members > limits.members { throw tooMuch("more than \(limits.members) members in its objects") }
  }

  private mutating func string() throws(Failure) -> String {
    position += 1
    var text = ""
    var start = position
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        text += String(decoding: bytes[start..<position], as: UTF8.self)
        position += 1
        return text
      case UInt8(ascii: "\\"):
        text += String(decoding: bytes[start..<position], as: UTF8.self)
        position += 1
        text.unicodeScalars.append(try escape())
        start = position
      case 0..<0x20: throw failure("a string contains a control character")
      default: position += 1
      }
    }
    throw failure("a string is not closed")
  }

  /// Reads an escape sequence, after its backslash.
  private mutating func escape() throws(Failure) -> Unicode.Scalar {
    guard let byte = next else { throw failure("a string is not closed") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "u"): return try scalar()
    default: throw failure("a string has an unknown escape")
    }
  }

  /// Reads a character, after its `\u`; it may be a surrogate pair.
  private mutating func scalar() throws(Failure) -> Unicode.Scalar {
    var code = try hex()
    if (0xD800..<0xDC00).contains(code), take("\\"), take("u") {
      let low = try hex()
      guard (0xDC00..<0xE000).contains(low) else { throw failure("a string contains half a surrogate pair") }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw failure("a string contains half a surrogate pair") }
    return scalar
  }

  private mutating func hex() throws(Failure) -> UInt32 {
    let start = position
    var code: UInt32 = 0
    while position < start + 4 {
      let digit: UInt8
      switch next {
      case let byte? where (0x30...0x39).contains(byte): digit = byte - 0x30
      case let byte? where (0x41...0x46).contains(byte & 0xDF): digit = byte & 0xDF - 0x41 + 10
      default:
        position = start
        throw failure("a string has an unknown escape")
      }
      code = code << 4 | UInt32(digit)
      position += 1
    }
    return code
  }

  private mutating func digits() throws(Failure) {
    let start = position
    while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
    if position == start { throw failure("a digit is missing in a number") }
  }

  private mutating func number() throws(Failure) -> JSONValue {
    let start = position
    let isNegative = take("-")
    let firstDigit = position
    if !take("0") { try digits() }
    var isWhole = true
    if take(".") {
      isWhole = false
      try digits()
    }
    if take("e") || take("E") {
      isWhole = false
      if !take("-") { _ = take("+") }
      try digits()
    }
    if isWhole, position - firstDigit <= 18 {  // fits, whatever the digits are
      var value: Int64 = 0
      for byte in bytes[firstDigit..<position] { value = 10 * value + Int64(byte & 0x0F) }
      return .integer(isNegative ? -value : value)
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isWhole, let value = Int64(text) { return .integer(value) }
    if isWhole, let value = UInt64(text) { return .unsigned(value) }
    guard let value = Double(text), value.isFinite else { throw failure("the number \(text.prefix(40)) is too large") }
    return .number(value)
  }
}
