// FormulaReader: parses TeX's mathematics into a tree; accepts anything, because models write anything.

struct FormulaReader {
  var tokens: [Substring]
  var at = 0
  var depth = 0
  /// Of braces and commands within each other: a formula of ten thousand must not exhaust the stack.
  static let mostDepth = 60

  init(_ source: String) { tokens = Self.tokens(source) }

  mutating func whole() -> Formula {
    var parts: [Formula] = []
    while at < tokens.count {
      parts += row([])
      at += 1  // a brace or an `\end` without a beginning
    }
    return joined(parts)
  }

  private static func tokens(_ source: String) -> [Substring] {
    var (found, rest) = ([Substring](), source[...])
    while let first = rest.first {
      var end = rest.index(after: rest.startIndex)
      if first == "\\", end < rest.endIndex {
        let letters = rest[end...].prefix { $0.isASCII && $0.isLetter }
        end = letters.isEmpty ? rest.index(after: end) : letters.endIndex
        if !letters.isEmpty, end < rest.endIndex, rest[end] == "*" { end = rest.index(after: end) }
      } else if first.isASCII, first.isNumber {
        end = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }.endIndex
      } else if first.isWhitespace {
        end = rest.prefix(while: \.isWhitespace).endIndex
      }
      found.append(rest[..<end])
      rest = rest[end...]
    }
    return found
  }

  var next: Substring? {
    mutating get {
      while at < tokens.count, tokens[at].first?.isWhitespace == true { at += 1 }
      return at < tokens.count ? tokens[at] : nil
    }
  }

  func joined(_ parts: [Formula]) -> Formula { parts.count == 1 ? parts[0] : .row(parts) }

  /// The parts up to one of `ends` or to a closing brace, neither of which is consumed.
  mutating func row(_ ends: Set<Substring>) -> [Formula] {
    var parts: [Formula] = []
    while let token = next, token != "}", token != "\\end", token != "\\right", !ends.contains(token) {
      if token == "\\over" || token == "\\choose" {
        at += 1
        let fraction = Formula.fraction(joined(parts), joined(row(ends)), hasLine: token == "\\over")
        return [token == "\\over" ? fraction : .fenced("(", fraction, ")")]
      }
      if let part = scripted() { parts.append(part) }
    }
    return parts
  }

  /// A group, or one sign: `\frac12` is a half.
  mutating func argument() -> Formula {
    guard let token = next, token != "}", token != "&" else { return .row([]) }
    guard token == "{" else {
      if token.count > 1, token.first?.isNumber == true {
        tokens.replaceSubrange(at...at, with: [token.prefix(1), token.dropFirst()])
      }
      return atom() ?? .row([])
    }
    guard depth < Self.mostDepth else { return .text(raw()) }
    at += 1
    depth += 1
    defer { depth -= 1 }
    let parts = row([])
    if next == "}" { at += 1 }
    return joined(parts)
  }

  mutating func optional() -> Formula? {
    guard next == "[" else { return nil }
    at += 1
    let parts = row(["]"])
    if next == "]" { at += 1 }
    return joined(parts)
  }

  private static let stackedNames: Set = ["operatorname*", "underbrace", "overbrace"]

  /// An atom with its indices; nil for a command that shows nothing.
  private mutating func scripted() -> Formula? {
    let name = next.map { String($0.drop { $0 == "\\" }) } ?? ""
    let isBare = next == "_" || next == "^" || next == "'"
    guard let base = isBare ? .row([]) : atom() else { return nil }
    var isStacked =
      FormulaSymbols.large[name] != nil || FormulaSymbols.limits.contains(name) || Self.stackedNames.contains(name)
    var below: Formula?
    var above: [Formula] = []
    while let mark = next, ["_", "^", "'", "\\limits", "\\nolimits"].contains(mark) {
      at += 1
      switch mark {
      case "'": above.append(.sign("′"))
      case "_": below = argument()
      case "^": above.append(argument())
      default: isStacked = mark == "\\limits"
      }
    }
    if below == nil && above.isEmpty { return base }
    return .scripts(base: base, below: below, above: above.isEmpty ? nil : joined(above), isStacked: isStacked)
  }

  mutating func atom() -> Formula? {
    guard let token = next else { return nil }
    if token == "{" { return argument() }
    at += 1
    guard depth < Self.mostDepth else { return .text(String(token)) }
    depth += 1
    defer { depth -= 1 }
    guard token.first == "\\", token.count > 1 else {
      switch token {
      case "-": return .sign("−")
      case "*": return .sign("∗")
      case "~": return .text(" ")
      case "&": return nil  // an alignment outside a table
      default: return .sign(String(token))
      }
    }
    return command(String(token.dropFirst()))
  }
}
