// Help texts, made from the tables of commands and options.

/// A command of the program.
package struct Command: Sendable {
  package var name: String
  package var summary: String
  package var operands: String  // plain arguments in the usage line
  package var notes: String  // further sentences of the help
  package var groups: [OptionGroup]
  package var run: @Sendable (Arguments) async throws -> Int32

  package var options: [Option] { groups.flatMap(\.options) }

  package var help: String {
    var text = "usage: pagoda \(name) [options]\(operands.isEmpty ? "" : " " + operands)\n\n\(summary)\n"
    if !notes.isEmpty { text += "\n\(notes)\n" }
    for group in groups { text += "\n\(group.title):\n\(Self.table(group.options))" }
    return text + "\nOther:\n" + Self.table([.help])
  }

  private static func table(_ options: [Option]) -> String {
    let rows = options.map { option in
      let short = option.short.map { "-\($0), " } ?? "    "
      return ("  \(short)--\(option.name)\(option.value.map { " " + $0 } ?? "")", option.help)
    }
    return columns(rows)
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

/// Two columns, the second aligned.
package func columns(_ rows: [(String, String)]) -> String {
  let width = (rows.map(\.0.count).max() ?? 0) + 2
  return rows.map { $0.0 + String(repeating: " ", count: width - $0.0.count) + $0.1 + "\n" }.joined()
}

package func programHelp(_ commands: [Command]) -> String {
  """
  usage: pagoda COMMAND [options]

  Runs language models on this machine. The small model inside the program needs no download.

  Commands:
  \(columns(commands.map { ("  " + $0.name, $0.summary) }))
    pagoda COMMAND --help   options of a command
    pagoda --version        version of the program

  Examples:
    pagoda chat
    pagoda generate --prompt "What is the capital of France?"
    pagoda generate --model ~/models/Qwen3.5-0.8B --prompt-file question.txt --json
    pagoda pull Qwen/Qwen3.5-0.8B && pagoda chat --model Qwen/Qwen3.5-0.8B

  """
}
