// KeyReader: the user's input as keys: characters, arrows, control keys, and pasted text as one key.
import Foundation

/// One input event.
package enum Key: Hashable, Sendable {
  case text(String)  // one or more whole characters
  case paste(String)
  case control(Character)  // Ctrl and a lower-case letter
  case enter, tab, backspace, delete, escape
  case up, down, left, right, home, end, wordLeft, wordRight
  case newline  // Alt-Enter
  case endOfInput
}

/// Turns bytes into keys. Decodes UTF-8 regardless of the locale.
package struct KeyReader {
  private let next: () -> UInt8?  // waits for a byte; nil at the end of input
  private let isMore: (_ milliseconds: Int32) -> Bool  // whether a byte arrives within that time
  private var held: [UInt8] = []

  package init(next: @escaping () -> UInt8?, isMore: @escaping (_ milliseconds: Int32) -> Bool) {
    self.next = next
    self.isMore = isMore
  }

  package mutating func read() -> Key {
    guard let byte = take() else { return .endOfInput }
    switch byte {
    case 0x0D, 0x0A: return .enter
    case 0x09: return .tab
    case 0x7F, 0x08: return .backspace
    case 0x1B: return escaped()
    case 1...26: return .control(Character(UnicodeScalar(byte + 0x60)))
    case 0..<0x20: return .control("?")
    default: return text(byte)
    }
  }

  private mutating func take() -> UInt8? { held.isEmpty ? next() : held.removeFirst() }

  /// The whole character and those that arrived with it: a joined emoji arrives as several scalars.
  private mutating func text(_ first: UInt8) -> Key {
    var bytes: [UInt8] = []
    var byte = first
    while true {
      bytes.append(byte)
      for _ in 0..<followers(of: byte) {
        guard let more = take() else { break }
        if more & 0xC0 != 0x80 {  // not UTF-8: the next byte starts a new key
          held.insert(more, at: 0)
          break
        }
        bytes.append(more)
      }
      guard held.isEmpty, isMore(0), let following = next() else { break }
      guard following >= 0x20, following != 0x7F else {
        held.append(following)
        break
      }
      byte = following
    }
    return .text(String(decoding: bytes, as: UTF8.self))
  }

  private func followers(of byte: UInt8) -> Int {
    switch byte {
    case 0xC0...0xDF: 1
    case 0xE0...0xEF: 2
    case 0xF0...0xF7: 3
    default: 0
    }
  }

  private mutating func escaped() -> Key {
    guard !held.isEmpty || isMore(30), let second = take() else { return .escape }
    switch second {
    case UInt8(ascii: "["), UInt8(ascii: "O"): return sequence()
    case 0x0D, 0x0A: return .newline
    case UInt8(ascii: "b"): return .wordLeft
    case UInt8(ascii: "f"): return .wordRight
    case 0x7F: return .control("w")
    default: return .escape
    }
  }

  /// Reads the rest of a sequence after ESC [: digits and semicolons, then a letter or `~`.
  private mutating func sequence() -> Key {
    var parameters = ""
    while let byte = take() {
      guard (0x40...0x7E).contains(byte) else {
        parameters.append(Character(UnicodeScalar(byte)))
        if parameters.count > 32 { return .escape }
        continue
      }
      return meaning(of: Character(UnicodeScalar(byte)), parameters)
    }
    return .endOfInput
  }

  private mutating func meaning(of final: Character, _ parameters: String) -> Key {
    let isWord = parameters.hasSuffix(";5") || parameters.hasSuffix(";3")
    switch (final, parameters) {
    case ("A", _): return .up
    case ("B", _): return .down
    case ("C", _): return isWord ? .wordRight : .right
    case ("D", _): return isWord ? .wordLeft : .left
    case ("H", _), ("~", "1"), ("~", "7"): return .home
    case ("F", _), ("~", "4"), ("~", "8"): return .end
    case ("~", "3"): return .delete
    case ("~", "200"): return .paste(pasted())
    default: return .escape
    }
  }

  /// Pasted text: everything up to ESC [ 201 ~.
  private mutating func pasted() -> String {
    let end = Array("\u{1B}[201~".utf8)
    var bytes: [UInt8] = []
    while let byte = take() {
      bytes.append(byte)
      if bytes.count >= end.count && bytes.suffix(end.count).elementsEqual(end) {
        bytes.removeLast(end.count)
        break
      }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
  }
}
