// TextWidth: the number of terminal columns that a text takes.

/// Columns that one character takes: 0 for controls, 2 for wide ones and emoji, 1 otherwise.
package func columnWidth(of character: Character) -> Int {
  guard let first = character.unicodeScalars.first else { return 0 }
  let properties = first.properties
  switch properties.generalCategory {
  case .control, .format, .nonspacingMark, .enclosingMark, .lineSeparator, .paragraphSeparator: return 0
  default: break
  }
  let scalars = character.unicodeScalars
  if properties.isEmojiPresentation || isWide(first.value) { return 2 }
  // A symbol that a variation selector turns into an emoji, such as a heart, and pairs of regional indicators.
  if scalars.count > 1, properties.isEmoji, scalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
  return 1
}

/// Columns of a text without line breaks.
package func columnWidth(of text: some StringProtocol) -> Int { text.reduce(0) { $0 + columnWidth(of: $1) } }

/// East Asian Width W and F, in blocks.
private func isWide(_ value: UInt32) -> Bool {
  switch value {
  case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
    0xFFE0...0xFFE6, 0x16FE0...0x18AFF, 0x1B000...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD:
    true
  default: false
  }
}

/// The start of a text that fits into the given columns; truncation is marked with an ellipsis.
package func clipped(_ text: String, to columns: Int) -> String {
  guard columnWidth(of: text) > columns else { return text }
  guard columns > 1 else { return "" }
  var kept = ""
  var width = 0
  for character in text {
    width += columnWidth(of: character)
    if width > columns - 1 { break }
    kept.append(character)
  }
  return kept + "…"
}
