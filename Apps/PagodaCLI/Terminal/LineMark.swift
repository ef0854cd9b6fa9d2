// LineMark: what the first characters of a line of Markdown say about it: a heading, an item, a quotation or a rule.

/// The mark that a line of prose begins with.
package enum LineMark: Equatable {
  case none
  case heading(level: Int)
  /// An item of a list, with the text that is shown for its mark: `  • ` or `10. `.
  case item(shown: String)
  case quotation

  /// Nil if the line may still become something else. A mark ends with its space, the last character of `line`.
  package init?(_ line: String) {
    let indent = line.prefix { $0 == " " }
    let body = line.dropFirst(indent.count)
    guard let first = body.first else { return nil }
    let rest = body.drop { $0 == first }
    let count = body.count - rest.count
    switch first {
    case "#" where count <= 6:
      if rest.isEmpty { return nil }
      self = rest == " " ? .heading(level: count) : .none
    case "-", "*", "_", "+":
      if rest.isEmpty { return nil }  // it may be a rule
      self = rest == " " && count == 1 && first != "_" ? .item(shown: indent + "• ") : .none
    case ">":
      if body == ">" { return nil }
      self = body == "> " ? .quotation : .none
    case "0"..."9":
      let after = body.drop { "0"..."9" ~= $0 }
      if body.count - after.count > 9 || !["", ".", ")", ". ", ") "].contains(after) {
        self = .none
      } else if after.last == " " {
        self = .item(shown: line)
      } else {
        return nil
      }
    default: self = .none
    }
  }

  /// Whether a complete line is a rule: three or more of the same mark.
  package static func isRule(_ line: String) -> Bool {
    let body = line.drop { $0 == " " }.reversed().drop { $0 == " " }
    guard let first = body.first, "-*_".contains(first) else { return false }
    return body.count >= 3 && body.allSatisfy { $0 == first }
  }
}
