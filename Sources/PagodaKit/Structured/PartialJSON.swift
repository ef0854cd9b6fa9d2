// PartialJSON: incomplete JSON, closed so that it can be parsed.

/// Follows JSON text as it arrives and closes the received part: open strings, lists and objects are ended, and an
/// incomplete element at the end (a name without a value, half a number) is dropped.
package struct PartialJSON {
  package init() {}

  private enum State { case value, name, afterName }

  package private(set) var text = ""
  private var closers: [Character] = []
  private var isInText = false
  private var isEscaped = false
  private var state = State.value
  private var isInWord = false  // a number, true, false or null, which may continue
  /// The longest prefix that can be closed as it is, and the text that closes it.
  private var safe = (end: 0, closers: "")
  private var length = 0  // of `text`, in UTF-8 bytes
  private var escapeStart = 0
  private var hexDigits = 0

  /// Takes the next chunk of the text.
  package mutating func push(_ chunk: String) {
    for character in chunk.unicodeScalars { take(character) }
  }

  /// The received part, closed; nil before the first value.
  package var closed: String? {
    if isInText, state == .value {
      let end = isEscaped || hexDigits > 0 ? escapeStart : length
      return prefix(end) + "\"" + String(closers.reversed())
    }
    return safe.end == 0 ? nil : prefix(safe.end) + safe.closers
  }

  private func prefix(_ end: Int) -> String { String(decoding: text.utf8.prefix(end), as: UTF8.self) }

  private mutating func take(_ scalar: Unicode.Scalar) {
    let start = length
    text.unicodeScalars.append(scalar)
    length += UTF8.width(scalar)
    if isInText { return takeInText(scalar, start) }
    if isInWord,
      !(scalar.properties.isAlphabetic || scalar.properties.numericType != nil || "+-.".unicodeScalars.contains(scalar))
    {
      isInWord = false
      safe = (start, String(closers.reversed()))
    }
    switch scalar {
    case "\"": isInText = true
    case "{":
      closers.append("}")
      state = .name
      keep()
    case "[":
      closers.append("]")
      state = .value
      keep()
    case "}", "]":
      _ = closers.popLast()
      state = .value
      keep()
    case ":": state = .value
    case ",": state = closers.last == "}" ? .name : .value
    case " ", "\n", "\r", "\t": break
    default: isInWord = true
    }
  }

  private mutating func takeInText(_ scalar: Unicode.Scalar, _ start: Int) {
    if hexDigits > 0 {
      hexDigits -= 1
    } else if isEscaped {
      isEscaped = false
      if scalar == "u" { hexDigits = 4 }
    } else if scalar == "\\" {
      isEscaped = true
      escapeStart = start
    } else if scalar == "\"" {
      isInText = false
      if state == .value { keep() } else { state = .afterName }
    }
  }

  private mutating func keep() { safe = (length, String(closers.reversed())) }
}
