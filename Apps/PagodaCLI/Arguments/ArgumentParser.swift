// ArgumentParser: parses command lines by a table of options. Long and short options, `--x=y`, `--` before operands.

/// One option of a command.
package struct Option: Sendable {
  package var name: String  // without the dashes
  package var short: Character?
  package var value: String?  // placeholder in the help; nil for a flag
  package var help: String

  package init(_ name: String, short: Character? = nil, value: String? = nil, help: String) {
    self.name = name
    self.short = short
    self.value = value
    self.help = help
  }

  package static let help = Option("help", short: "h", help: "show this help")
}

/// A mistake in the command line itself; exit code 64.
package struct UsageError: Error, Equatable {
  package var message: String

  package init(_ message: String) { self.message = message }
}

/// A parsed command line.
package struct Arguments: Sendable {
  package var values: [String: [String]] = [:]  // by option name, in the order given; flags have ""
  package var positionals: [String] = []
  /// Where values that are not from the command line come from, by option name: for messages.
  package var sources: [String: String] = [:]

  package init() {}

  /// Parses `words` according to the table; `--help` is always accepted.
  package init(_ words: [String], options: [Option]) throws {
    var parser = Parser(options: options + [.help], words: words[...])
    self = try parser.parse()
  }
}

private struct Parser {
  let options: [Option]
  var words: ArraySlice<String>
  var arguments = Arguments()

  mutating func parse() throws -> Arguments {
    while let word = words.popFirst() {
      if word == "--" {
        arguments.positionals += words
        break
      } else if word.hasPrefix("--") {
        try long(word.dropFirst(2))
      } else if word.hasPrefix("-"), word.count > 1, !isNumber(word) {
        try short(word.dropFirst())
      } else {
        arguments.positionals.append(word)
      }
    }
    return arguments
  }

  private mutating func long(_ word: Substring) throws {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    let meant = [name, Self.synonyms[name]]
    guard let option = options.first(where: { meant.contains($0.name) }) else {
      let known = options.map(\.name)
      let words = known + Self.synonyms.filter { known.contains($0.value) }.keys.sorted()
      let near = suggestion(for: name, among: words).map { Self.synonyms[$0] ?? $0 }
      throw UsageError("unknown option --\(name)" + (near.map { "; did you mean --\($0)?" } ?? ""))
    }
    try take(option, attached: parts.count > 1 ? String(parts[1]) : nil)
  }

  /// Names that other programs use for these options.
  private static let synonyms = [
    "temp": "temperature", "n-predict": "max-tokens", "num-predict": "max-tokens", "ctx-size": "max-model-len",
    "max-seq-len": "max-model-len", "repeat-penalty": "repetition-penalty", "system-prompt": "system",
  ]

  /// `-h`, `-m DIR`, `-mDIR`.
  private mutating func short(_ word: Substring) throws {
    guard let letter = word.first, let option = options.first(where: { $0.short == letter }) else {
      throw UsageError("unknown option -\(word)")
    }
    let rest = word.dropFirst()
    if option.value == nil && !rest.isEmpty { throw UsageError("option -\(letter) takes no value") }
    try take(option, attached: rest.isEmpty ? nil : String(rest))
  }

  private mutating func take(_ option: Option, attached: String?) throws {
    guard option.value != nil else {
      if attached != nil { throw UsageError("option --\(option.name) takes no value") }
      arguments.values[option.name, default: []].append("")
      return
    }
    if let attached {
      arguments.values[option.name, default: []].append(attached)
      return
    }
    // A forgotten value must not swallow the next option; `--prompt=--json` passes such a value on purpose.
    guard let next = words.first, !options.contains(where: { next == "--" + $0.name }) else {
      throw UsageError("option --\(option.name) needs a value")
    }
    words.removeFirst()
    arguments.values[option.name, default: []].append(next)
  }

  private func isNumber(_ word: String) -> Bool { Double(word) != nil }
}

/// The known word that the user probably meant: one that starts with the typed word, or differs by a typo.
package func suggestion(for word: String, among known: [String]) -> String? {
  if word.count > 1, let longer = known.first(where: { $0.hasPrefix(word) }) { return longer }
  let allowed = word.count < 5 ? 1 : 2
  let near = known.map { (word: $0, distance: editDistance($0, word)) }.min { $0.distance < $1.distance }
  return near.flatMap { $0.distance <= allowed ? $0.word : nil }
}

/// Edits between two words: a character inserted, deleted or replaced, or two neighbours swapped (optimal string
/// alignment, after Damerau and Levenshtein).
private func editDistance(_ a: String, _ b: String) -> Int {
  let (a, b) = (Array(a), Array(b))
  var before: [Int] = []  // the row before the last one
  var row = Array(0...b.count)
  for i in a.indices {
    var next = [i + 1]
    for j in b.indices {
      var distance = min(row[j] + (a[i] == b[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1)
      if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] { distance = min(distance, before[j - 1] + 1) }
      next.append(distance)
    }
    (before, row) = (row, next)
  }
  return row[b.count]
}
