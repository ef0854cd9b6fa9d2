// Commands of TeX: fractions, roots, fonts, fences, and environments with rows of cells.

extension FormulaReader {
  mutating func command(_ name: String) -> Formula? {
    if let sign = FormulaSymbols.letters[name] ?? FormulaSymbols.operators[name] ?? FormulaSymbols.large[name] {
      return .sign(sign)
    }
    if FormulaSymbols.functions.contains(name) { return .sign(name) }
    if let mark = FormulaSymbols.marks[name] { return .marked(argument(), mark) }
    if FormulaSymbols.isFont(name) { return inFont(argument(), name) }
    if FormulaSymbols.ignored.contains(name) { return nil }
    switch name {
    case "frac", "dfrac", "tfrac", "cfrac":
      let above = argument()
      return .fraction(above, argument(), hasLine: true)
    case "binom", "dbinom", "tbinom":
      let above = argument()
      return .fenced("(", .fraction(above, argument(), hasLine: false), ")")
    case "sqrt":
      let degree = optional()
      return .root(argument(), degree: degree)
    case "text", "mbox", "textbf", "textit", "textrm", "texttt", "hbox": return .text(raw())
    case "mathrm", "operatorname", "operatorname*", "mathit", "mathsf", "mathtt": return .sign(raw())
    case "left": return pair()
    case "begin": return environment()
    case "boxed", "fbox", "cancel", "mathop", "mathbin", "mathrel", "smash", "overbrace", "underbrace":
      return argument()
    case "overset", "stackrel", "xrightarrow", "underset": return stacked(name)
    case "substack": return substack()
    case "pmod": return .row([.text(" "), .fenced("(", .row([.text("mod "), argument()]), ")")])
    case "not": return .row([.text((atom()?.line ?? "") + "\u{338}")])
    case "label", "hspace", "hspace*", "vspace", "color":
      _ = raw()
      return nil
    case "tag": return .text("  (\(raw()))")
    case ",", ":", ";", ">", " ", "quad", "qquad", "enspace", "thinspace":
      return .text(name.hasSuffix("quad") ? "  " : " ")
    case "!", "\\", "newline": return nil
    case "|": return .sign("‖")
    default: return .sign(name.count == 1 ? name : "\\" + name)  // \% \$ \& \# \_ \{ \}
    }
  }

  private func inFont(_ formula: Formula, _ font: String) -> Formula {
    switch formula {
    case .sign(let text): .sign(FormulaSymbols.styled(text, font))
    case .row(let parts): .row(parts.map { inFont($0, font) })
    default: formula
    }
  }

  private mutating func stacked(_ name: String) -> Formula {
    let first = name == "xrightarrow" ? optional() : nil
    let mark = argument()
    if name == "xrightarrow" { return .scripts(base: .sign("→"), below: first, above: mark, isStacked: true) }
    let isAbove = name != "underset"
    return .scripts(base: argument(), below: isAbove ? nil : mark, above: isAbove ? mark : nil, isStacked: true)
  }

  /// `\left( … \right)`.
  private mutating func pair() -> Formula? {
    let open = fence()
    let inner = joined(row([]))
    guard next == "\\right" else { return .fenced(open, inner, "") }
    at += 1
    return .fenced(open, inner, fence())
  }

  private mutating func fence() -> String {
    guard let token = next else { return "" }
    at += 1
    let name = String(token.drop { $0 == "\\" })
    if token == "." { return "" }
    if token == "\\|" { return "‖" }
    return FormulaSymbols.letters[name] ?? FormulaSymbols.operators[name] ?? name
  }

  /// The characters of a group, verbatim.
  mutating func raw() -> String {
    guard let token = next else { return "" }
    at += 1
    guard token == "{" else { return String(token) }
    var (text, open) = ("", 1)
    while at < tokens.count {
      let token = tokens[at]
      at += 1
      open += token == "{" ? 1 : token == "}" ? -1 : 0
      if open == 0 { break }
      if token != "{" && token != "}" { text += token.count == 2 && token.first == "\\" ? token.dropFirst() : token }
    }
    return text
  }

  private mutating func environment() -> Formula? {
    let name = raw().replacing("*", with: "")
    if ["array", "alignat", "alignedat"].contains(name) { _ = raw() }
    let rows = cells()
    if next == "\\end" {
      at += 1
      _ = raw()
    }
    guard let (open, close) = FormulaSymbols.brackets[name] else { return .table(rows) }
    return .fenced(open, .table(rows), close)
  }

  private mutating func substack() -> Formula {
    if next == "{" { at += 1 }
    let rows = cells()
    if next == "}" { at += 1 }
    return .table(rows)
  }

  /// Rows of cells up to the end of an environment or of a group.
  private mutating func cells() -> [[Formula]] {
    var rows: [[Formula]] = [[]]
    while true {
      rows[rows.count - 1].append(joined(row(["&", "\\\\", "\\cr"])))
      guard let token = next, token != "}", token != "\\end", token != "\\right" else { break }
      at += 1
      if token == "&" { continue }
      if at < tokens.count, tokens[at] == "[" { _ = optional() }  // the distance to the next row
      rows.append([])
    }
    return rows.filter { $0 != [.row([])] }
  }
}
