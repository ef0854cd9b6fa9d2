// LarkGrammar: translates a grammar in Lark's notation into a regular expression, which is possible if no rule refers to
// itself. Grammars of tools, such as Codex's apply_patch, are of this kind.
import PagodaKit

enum LarkGrammar {
  struct Refusal: Error {
    var message: String
  }

  static let maximumPatternBytes = 32 << 10
  /// Rules inside of each other. They are written recursively, on the stack of a server's thread.
  static let maximumDepth = 100

  /// The expression for the rule `start`.
  static func pattern(_ definition: String) throws -> String {
    var parser = LarkParser(tokens: try LarkToken.read(definition))
    let rules = try parser.rules()
    guard rules["start"] != nil else { throw Refusal(message: "there is no rule named start") }
    var writer = LarkWriter(rules: rules)
    return try writer.write(.name("start"))
  }

  /// Terminals of Lark's library `common`.
  static let common = [
    "LF": #"\n"#, "CR": #"\r"#, "NEWLINE": #"(?:\r?\n)+"#, "DIGIT": "[0-9]", "HEXDIGIT": "[a-fA-F0-9]",
    "INT": "[0-9]+", "SIGNED_INT": "[+-]?[0-9]+", "DECIMAL": #"(?:[0-9]+\.[0-9]*|\.[0-9]+)"#,
    "FLOAT": #"(?:[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"#,
    "NUMBER": #"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"#,
    "SIGNED_NUMBER": #"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"#,
    "ESCAPED_STRING": #""(?:[^"\\\n]|\\.)*""#, "LCASE_LETTER": "[a-z]", "UCASE_LETTER": "[A-Z]",
    "LETTER": "[a-zA-Z]", "WORD": "[a-zA-Z]+", "CNAME": "[_a-zA-Z][_a-zA-Z0-9]*", "WS_INLINE": #"[ \t]+"#,
    "WS": #"[ \t\f\r\n]+"#,
  ]
}

/// An expression of a rule.
indirect enum LarkNode {
  case pattern(String)
  case name(String)
  case sequence([LarkNode])
  case choice([LarkNode])
  case repeated(LarkNode, String)  // the operator of the regular expression
}

enum LarkToken: Equatable {
  case name(String)
  case pattern(String)  // a string or an expression
  case sign(String)

  static func read(_ text: String) throws -> [LarkToken] {
    var tokens: [LarkToken] = []
    var rest = Substring(text)
    while let first = rest.first {
      if first.isWhitespace {
        rest.removeFirst()
      } else if rest.hasPrefix("//") || first == "#" {
        rest = rest.drop { !$0.isNewline }
      } else if first == "\"" {
        tokens.append(.pattern(try string(&rest)))
      } else if first == "/" {
        tokens.append(.pattern(try expression(&rest)))
      } else if first == "%" || first == "_" || first == "?" && startsRule(rest) || first == "!" || first.isLetter {
        let mark = "%?!".contains(first) ? String(rest.removeFirst()) : ""
        let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        rest = rest.dropFirst(name.count)
        tokens.append(.name((mark == "%" ? mark : "") + name))
      } else if first.isNumber {
        let digits = rest.prefix { $0.isNumber }
        rest = rest.dropFirst(digits.count)
        tokens.append(.name(String(digits)))
      } else if let sign = ["->", ".."].first(where: { rest.hasPrefix($0) }) {
        rest = rest.dropFirst(2)
        tokens.append(.sign(sign))
      } else if ":|()[]*+?~.,".contains(first) {
        tokens.append(.sign(String(rest.removeFirst())))
      } else {
        throw LarkGrammar.Refusal(message: "'\(first)' is not expected")
      }
    }
    return tokens
  }

  /// Whether a `?` begins the name of a rule rather than ending an expression.
  private static func startsRule(_ rest: Substring) -> Bool {
    rest.dropFirst().first.map { $0.isLetter || $0 == "_" } ?? false
      && rest.base[..<rest.startIndex].last { $0 != " " && $0 != "\t" }.map(\.isNewline) ?? true
  }

  private static func delimited(_ rest: inout Substring, by end: Character) throws -> [Character] {
    rest.removeFirst()
    var text: [Character] = []
    while let next = rest.popFirst() {
      if next == end { return text }
      text.append(next)
      if next == "\\", let escaped = rest.popFirst() { text.append(escaped) }
    }
    throw LarkGrammar.Refusal(message: "a string or expression is not closed")
  }

  private static func string(_ rest: inout Substring) throws -> String {
    let text = try delimited(&rest, by: "\"")
    guard let value = JSONValue.parse("\"\(String(text))\"")?.stringValue, !value.isEmpty else {
      throw LarkGrammar.Refusal(message: "the string \"\(String(text.prefix(40)))\" is empty or has an unknown escape")
    }
    let ignoresCase = rest.first == "i"
    if ignoresCase { rest.removeFirst() }
    return value.unicodeScalars.map { scalar in
      let letter = String(scalar)
      if ignoresCase, letter.lowercased() != letter.uppercased() {
        return "[\(letter.lowercased())\(letter.uppercased())]"
      }
      return quoted(scalar)
    }.joined()
  }

  /// A character that stands for itself.
  static func quoted(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": #"\n"#
    case "\r": #"\r"#
    case "\t": #"\t"#
    case let scalar where "\\^$.|?*+()[]{}/-".unicodeScalars.contains(scalar): "\\\(scalar)"
    default: String(scalar)
    }
  }

  private static func expression(_ rest: inout Substring) throws -> String {
    let text = String(try delimited(&rest, by: "/")).replacing("\\/", with: "/")
    let flags = rest.prefix { "imslux".contains($0) }
    rest = rest.dropFirst(flags.count)
    if !flags.allSatisfy({ $0 == "u" }) {
      throw LarkGrammar.Refusal(message: "the flags '\(flags)' of /\(text.prefix(40))/ are not supported")
    }
    return text
  }
}

struct LarkParser {
  private let tokens: [LarkToken]
  private var position = 0

  init(tokens: [LarkToken]) { self.tokens = tokens }

  private var next: LarkToken? { position < tokens.count ? tokens[position] : nil }

  private mutating func take(_ sign: String) -> Bool {
    guard next == .sign(sign) else { return false }
    position += 1
    return true
  }

  private mutating func name(_ what: String) throws -> String {
    guard case .name(let name)? = next else { throw LarkGrammar.Refusal(message: "\(what) is missing") }
    position += 1
    return name
  }

  mutating func rules() throws -> [String: LarkNode] {
    var rules: [String: LarkNode] = [:]
    while next != nil {
      let name = try name("the name of a rule")
      if name == "%import" {
        try readImport(into: &rules)
        continue
      }
      if name.hasPrefix("%") { throw LarkGrammar.Refusal(message: "\(name) is not supported") }
      if take(".") { _ = try self.name("the priority of \(name)") }
      guard take(":") else { throw LarkGrammar.Refusal(message: "a colon is missing after '\(name.prefix(40))'") }
      if rules.updateValue(try choice(), forKey: name) != nil {
        throw LarkGrammar.Refusal(message: "the rule '\(name.prefix(40))' occurs twice")
      }
    }
    return rules
  }

  /// `%import common.LF`, `%import common.LF -> NEWLINE` or `%import common (LF, WS)`.
  private mutating func readImport(into rules: inout [String: LarkNode]) throws {
    guard try name("a library") == "common" else {
      throw LarkGrammar.Refusal(message: "%import is supported from common only")
    }
    func add(_ name: String, as alias: String) throws {
      guard let pattern = LarkGrammar.common[name] else {
        throw LarkGrammar.Refusal(message: "common.\(name.prefix(40)) is not known")
      }
      rules[alias] = .pattern(pattern)
    }
    if take("(") {
      repeat {
        let one = try name("a terminal")
        try add(one, as: one)
      } while take(",")
      if !take(")") { throw LarkGrammar.Refusal(message: "a list of imports is not closed") }
      return
    }
    _ = take(".")
    let one = try name("a terminal")
    try add(one, as: take("->") ? try name("an alias") : one)
  }

  private mutating func choice(depth: Int = 0) throws -> LarkNode {
    if depth > 50 { throw LarkGrammar.Refusal(message: "a rule is nested too deeply") }
    _ = take("|")  // some write one before the first alternative
    var choices = [try sequence(depth)]
    while take("|") { choices.append(try sequence(depth)) }
    return choices.count == 1 ? choices[0] : .choice(choices)
  }

  private var startsRule: Bool {
    guard case .name(let name)? = next else { return false }
    let after = position + 1 < tokens.count ? tokens[position + 1] : nil
    let later = position + 3 < tokens.count ? tokens[position + 3] : nil
    return name.hasPrefix("%") || after == .sign(":") || after == .sign(".") && later == .sign(":")
  }

  private mutating func sequence(_ depth: Int) throws -> LarkNode {
    var parts: [LarkNode] = []
    while let token = next, !startsRule {
      var part: LarkNode
      switch token {
      case .pattern(let pattern):
        position += 1
        part = .pattern(take("..") ? try range(pattern) : pattern)
      case .name(let name):
        position += 1
        part = .name(name)
      case .sign("("), .sign("["):
        let isOptional = token == .sign("[")
        position += 1
        part = try choice(depth: depth + 1)
        guard take(isOptional ? "]" : ")") else { throw LarkGrammar.Refusal(message: "a group is not closed") }
        if isOptional { part = .repeated(part, "?") }
      case .sign("->"):
        position += 1
        _ = try name("an alias")
        continue
      default: return .sequence(parts)
      }
      parts.append(try repetition(of: part))
    }
    return .sequence(parts)
  }

  private mutating func repetition(of part: LarkNode) throws -> LarkNode {
    for sign in ["*", "+", "?"] where take(sign) { return .repeated(part, sign) }
    guard take("~") else { return part }
    func number() throws -> Int {
      guard let count = Int(try name("a number of repetitions")), count <= 10_000 else {
        throw LarkGrammar.Refusal(message: "a number of repetitions is not valid")
      }
      return count
    }
    let least = try number()
    return .repeated(part, take("..") ? "{\(least),\(try number())}" : "{\(least)}")
  }

  /// `"a".."z"`
  private mutating func range(_ first: String) throws -> String {
    guard case .pattern(let last)? = next else { throw LarkGrammar.Refusal(message: "a range has no end") }
    position += 1
    return "[\(first)-\(last)]"
  }
}

/// Writes expressions with the rules that they name in place of the names.
private struct LarkWriter {
  let rules: [String: LarkNode]
  private var open: [String] = []
  private var size = 0

  init(rules: [String: LarkNode]) { self.rules = rules }

  mutating func write(_ node: LarkNode) throws -> String {
    // At least one byte each: rules without any text can refer to each other exponentially often.
    try count(1)
    switch node {
    case .pattern(let pattern):
      try count(pattern.utf8.count + 4)
      return pattern.count == 1 ? pattern : "(?:\(pattern))"
    case .name(let name):
      guard let rule = rules[name] else { throw LarkGrammar.Refusal(message: "there is no rule '\(name.prefix(40))'") }
      if open.contains(name) {
        throw LarkGrammar.Refusal(
          message: "the rule '\(name.prefix(40))' refers to itself, and only grammars without recursion can be enforced"
        )
      }
      if open.count >= LarkGrammar.maximumDepth {
        throw LarkGrammar.Refusal(message: "rules are nested more than \(LarkGrammar.maximumDepth) deep")
      }
      open.append(name)
      defer { open.removeLast() }
      return try write(rule)
    case .sequence(let parts): return try parts.map { try write($0) }.joined()
    case .choice(let choices):
      try count(4 + choices.count)
      return "(?:" + (try choices.map { try write($0) }).joined(separator: "|") + ")"
    case .repeated(let part, let sign):
      try count(4 + sign.utf8.count)
      return "(?:\(try write(part)))\(sign)"
    }
  }

  private mutating func count(_ bytes: Int) throws {
    size += bytes
    if size <= LarkGrammar.maximumPatternBytes { return }
    throw LarkGrammar.Refusal(
      message: "as a regular expression it has more than \(LarkGrammar.maximumPatternBytes) bytes")
  }
}
