// A formula on one line, in Unicode: for formulas within a sentence, for speech, and for copies.

extension Formula {
  /// The formula on one line, such as `x² + √(y + 1)`. Fractions and indices that Unicode has no characters for are in
  /// brackets.
  public var line: String {
    switch self {
    case .sign(let text), .text(let text): text
    case .row(let parts): Self.line(parts)
    case .fraction(let above, let below, let hasLine):
      hasLine ? above.factor + "/" + below.factor : above.line + " over " + below.line
    case .scripts(let base, let below, let above, _):
      base.line + (below.map { Self.index($0.line, "_", FormulaSymbols.lowered) } ?? "")
        + (above.map { Self.index($0.line, "^", FormulaSymbols.raised) } ?? "")
    case .root(let inner, let degree): Self.sign(ofRoot: degree?.line) + inner.factor
    case .fenced(let open, let inner, let close): open + inner.line + close
    case .marked(let inner, let mark): Self.marked(inner.line, mark)
    case .table(let rows):
      rows.map { $0.map(\.line).filter { !$0.isEmpty }.joined(separator: " ") }.joined(separator: "; ")
    }
  }

  /// The formula as one factor: in brackets if it is a sum, a product or words.
  private var factor: String {
    let text = line
    if case .fenced(let open, _, let close) = self, !open.isEmpty, !close.isEmpty { return text }
    let isOne = text.dropFirst().allSatisfy { !$0.isWhitespace && !"/−+·".contains($0) }
    return isOne ? text : "(\(text))"
  }

  private static func sign(ofRoot degree: String?) -> String {
    switch degree {
    case nil, "2": "√"
    case "3": "∛"
    case "4": "∜"
    case let degree?: (FormulaSymbols.raised(degree) ?? "(\(degree))") + "√"
    }
  }

  private static func index(_ text: String, _ mark: String, _ small: (String) -> String?) -> String {
    if text.allSatisfy({ "′∗∘†".contains($0) }) { return text.replacing("∘", with: "°") }
    if let small = small(text) { return small }
    return mark + (text.count == 1 ? text : "(\(text))")
  }

  private static func marked(_ text: String, _ mark: FormulaMark) -> String {
    if text.count == 1 { return text + String(mark.combining) }
    guard mark == .overline || mark == .underline else { return "\(mark.rawValue)(\(text))" }
    return text.map { "\($0)\(mark.combining)" }.joined()
  }

  private static let spaced = Set(FormulaSymbols.operators.values).union(["+", "−", "=", "<", ">", ":="])
    .subtracting(["∘", "∗", "↑", "↓"])
  private static let signs: Set = ["+", "−", "±", "∓"]

  /// Parts side by side: spaces around operators with two sides, around names of functions, and after commas. Each part is
  /// written once, because a part may contain others sixty levels deep.
  private static func line(_ parts: [Formula]) -> String {
    var text = ""
    var wantsOperand = true  // an operator here has one side
    var before: Formula?
    for part in parts {
      let next = part.line
      if next.isEmpty { continue }
      if spaced.contains(next) {
        let isSign = wantsOperand && signs.contains(next)
        text += (text.isEmpty || text.last == " " ? "" : " ") + next + (isSign ? "" : " ")
        (wantsOperand, before) = (true, part)
        continue
      }
      if let last = text.last, let first = next.first, isGap(last, before, first, part) { text += " " }
      text += next + (next == "," || next == ";" ? " " : "")
      wantsOperand = ["(", "[", "{", ",", ";"].contains(next) || (next == "|" && wantsOperand)
      before = part
    }
    while text.last == " " { text.removeLast() }
    return text.replacing("  ", with: " ")
  }

  /// Whether names of functions and large operators need a space before `first` or after `last`.
  private static func isGap(_ last: Character, _ before: Formula?, _ first: Character, _ part: Formula) -> Bool {
    if part.isWordLike, last.isLetter || last.isNumber || last == ")" { return true }
    guard let before, before.isWordLike else { return false }
    if case .scripts = before, first == "(" { return true }
    return first.isLetter || first.isNumber || "∑√∫".contains(first)
  }

  /// The name of a function, or a large operator, with or without indices.
  private var isWordLike: Bool {
    switch self {
    case .sign(let text):
      FormulaSymbols.functions.contains(text) || FormulaSymbols.large.values.contains(text) || text == "∫"
    case .scripts(let base, _, _, _): base.isWordLike
    default: false
    }
  }
}
