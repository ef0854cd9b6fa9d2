// Formulas within a sentence: finds them between their marks and writes them on one line.

extension String {
  /// The text with its formulas, `\(…\)`, `\[…\]`, `$…$` and `$$…$$`, on one line each; for Markdown, so that a formula's own
  /// asterisks and underscores are no marks. Code stays as it is, and so do prices: `$5 and $6`.
  public func replacingFormulas() -> String {
    guard contains("$") || contains("\\(") || contains("\\[") else { return self }
    var (out, rest) = ("", self[...])
    while let start = rest.firstIndex(where: { "`\\$".contains($0) }) {
      out += rest[..<start]
      rest = rest[start...]
      if rest.first == "`" {
        let code = rest.codeSpan
        out += code
        rest = rest[code.endIndex...]
      } else if let (tex, end) = rest.formula {
        out += Formula(tex: String(tex)).line.escapedForMarkdown
        rest = rest[end...]
      } else {
        out += rest.prefix(rest.first == "\\" ? 2 : 1)
        rest = rest.dropFirst(rest.first == "\\" ? 2 : 1)
      }
    }
    return out + rest
  }

  private var escapedForMarkdown: String {
    map { "\\`*_[]<>~&".contains($0) ? "\\\($0)" : String($0) }.joined()
  }
}

extension Substring {
  /// Code from its first mark to the same number of marks; the first marks alone if there is no end.
  fileprivate var codeSpan: Substring {
    let marks = prefix { $0 == "`" }
    var rest = self[marks.endIndex...]
    while let start = rest.firstIndex(of: "`") {
      let run = rest[start...].prefix { $0 == "`" }
      if run.count == marks.count { return self[..<run.endIndex] }
      rest = rest[run.endIndex...]
    }
    return marks
  }

  /// The formula that begins here, and the index after its closing mark.
  fileprivate var formula: (tex: Substring, end: Index)? {
    for (open, close) in [("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$")] where hasPrefix(open) {
      let inner = dropFirst(2)
      guard let end = inner.firstRange(of: close), !inner[..<end.lowerBound].isEmpty else { return nil }
      return (inner[..<end.lowerBound], end.upperBound)
    }
    guard first == "$" else { return nil }
    let inner = dropFirst()
    guard let begin = inner.first, !begin.isWhitespace, begin != "$" else { return nil }
    var index = inner.startIndex
    while index < inner.endIndex, !"$`\n".contains(inner[index]) {
      let step = inner[index] == "\\" ? 2 : 1
      index = inner.index(index, offsetBy: step, limitedBy: inner.endIndex) ?? inner.endIndex
    }
    guard index > inner.startIndex, index < inner.endIndex, inner[index] == "$" else { return nil }
    let after = inner.index(after: index)
    guard !inner[inner.index(before: index)].isWhitespace, after == inner.endIndex || !inner[after].isNumber else {
      return nil
    }
    return (inner[..<index], after)
  }
}
