// Help texts, generated from the tables of commands and options.

/// A command of the program.
package struct Command: Sendable {
  package var name: String
  package var summary: String
  package var operands: String  // plain arguments in the usage line
  package var notes: String  // further sentences of the help
  package var groups: [OptionGroup]
  package var run: @Sendable (Arguments) async throws -> Int32

  package var options: [Option] { groups.flatMap(\.options) }

  /// - Parameter width: columns of the terminal; nil disables wrapping.
  package func help(width: Int?) -> String {
    func fitted(_ text: String) -> String { width.map { wrapped(text, width: $0) } ?? text }
    let usage = "usage: pagoda \(name) [options]\(operands.isEmpty ? "" : " " + operands)"
    var text = "\(fitted(usage))\n\n\(fitted(summary))\n"
    if !notes.isEmpty { text += "\n\(width.map { reflowed(notes, width: $0) } ?? notes)\n" }
    for group in groups { text += "\n\(group.title):\n\(Self.table(group.options, width))" }
    return text + "\nOther:\n" + Self.table([.help], width)
  }

  private static func table(_ options: [Option], _ width: Int?) -> String {
    let rows = options.map { option in
      let short = option.short.map { "-\($0), " } ?? "    "
      return ("  \(short)--\(option.name)\(option.value.map { " " + $0 } ?? "")", option.help)
    }
    return columns(rows, width: width)
  }
}

/// Options under one heading.
package struct OptionGroup: Sendable {
  package var title: String
  package var options: [Option]

  package init(_ title: String, _ options: [Option]) {
    self.title = title
    self.options = options
  }
}

/// Two columns; the second is aligned, and wrapped if `width` is given.
package func columns(_ rows: [(String, String)], width: Int? = nil) -> String {
  let indent = (rows.map { columnWidth(of: $0.0) }.max() ?? 0) + 2
  return rows.map { row in
    let gap = String(repeating: " ", count: indent - columnWidth(of: row.0))
    guard let width else { return row.0 + gap + row.1 + "\n" }
    let widest = row.1.split(separator: "\n").map { columnWidth(of: $0) }.max() ?? 0
    let word = row.1.split { $0 == " " || $0 == "\n" }.map { columnWidth(of: $0) }.max() ?? 0
    // In a narrow terminal, and if a word would be broken, a text that does not fit goes below the first column.
    if indent + widest > width, width < indent + 24 || (word > width - indent && word <= width - 6) {
      return wrapped(row.0, width: width) + "\n" + "      " + wrapped(row.1, width: width, indent: 6) + "\n"
    }
    return row.0 + gap + wrapped(row.1, width: width, indent: indent) + "\n"
  }.joined()
}

/// Joins the lines of each paragraph and wraps them again; indented lines stay separate, in their two columns.
package func reflowed(_ text: String, width: Int) -> String {
  var paragraphs: [String] = []
  var isOpen = false  // whether the next line may join the last one
  for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
    let isPlain = !line.isEmpty && !line.hasPrefix(" ")
    if isPlain && isOpen {
      paragraphs[paragraphs.count - 1] += " " + line
    } else {
      paragraphs.append(String(line))
    }
    isOpen = isPlain
  }
  return paragraphs.map { row in
    guard let gap = row.drop(while: { $0 == " " }).firstRange(of: "  "), row.hasPrefix("  ") else {
      return wrapped(row, width: width)
    }
    let second = row[gap.lowerBound...].drop { $0 == " " }
    let indent = row.count - second.count
    guard columnWidth(of: row) > width else { return row }
    // As in `columns`: in a narrow terminal the second column goes below the first.
    if width < indent + 24 {
      return row[..<gap.lowerBound] + "\n      " + wrapped(String(second), width: width, indent: 6)
    }
    return row.dropLast(second.count) + wrapped(String(second), width: width, indent: indent)
  }.joined(separator: "\n")
}

package func programHelp(_ commands: [Command], width: Int? = nil) -> String {
  let about = "Runs language models on this machine. The small model inside the program needs no download."
  let examples = [
    "pagoda chat", "pagoda chat qwen3.5:4b", "pagoda ask \"What is the capital of France?\"",
    "pagoda run qwen3.5:4b \"Write a haiku about autumn.\"",
    "pagoda generate --model ~/models/Qwen3.5-0.8B -f question.txt --json", "pagoda serve --model qwen3.5:4b",
  ]
  let others = [("  pagoda help COMMAND", "options of a command"), ("  pagoda version", "version of the program")]
  return """
    usage: pagoda COMMAND [options]

    \(wrapped(about, width: width ?? 70))

    Commands:
    \(columns(commands.map { ("  " + $0.name, $0.summary) }, width: width))
    \(columns(others, width: width))
    Examples:
    \(examples.map { wrapped("  " + $0, width: width ?? .max, indent: 2) }.joined(separator: "\n"))

    """
}
