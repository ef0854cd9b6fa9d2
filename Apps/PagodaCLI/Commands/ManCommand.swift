// pagoda man: manual pages, generated from the tables of commands and options.
import Foundation
import PagodaKit

extension Command {
  static let man = Command(
    name: "man",
    summary: "Writes manual pages, made from the help.",
    operands: "FOLDER",
    notes: """
      For example: pagoda man ~/.local/share/man/man1, then man pagoda, man pagoda-chat.
      """,
    groups: [],
    run: { arguments in
      guard arguments.positionals.count == 1 else { throw UsageError("name one folder: pagoda man FOLDER") }
      let folder = NSString(string: arguments.positionals[0]).expandingTildeInPath
      do {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      } catch {
        throw CommandFailure("\(folder): cannot be created: \(error.localizedDescription)")
      }
      try Terminal.write(manualPage(of: Command.all), toFile: "\(folder)/pagoda.1")
      for command in Command.all {
        try Terminal.write(manualPage(command), toFile: "\(folder)/pagoda-\(command.name).1")
      }
      Terminal.say("\(Command.all.count + 1) pages are in \(folder).")
      return 0
    })
}

/// The page of the program.
package func manualPage(of commands: [Command]) -> String {
  let rows = commands.map { ".TP\n.B \(roff($0.name))\n\(roff($0.summary))\n" }.joined()
  return """
    .TH PAGODA 1 "" "pagoda \(PagodaVersion.current)"
    .SH NAME
    pagoda \\- runs language models on this machine
    .SH SYNOPSIS
    .B pagoda
    COMMAND [options]
    .SH COMMANDS
    Each has a page of its own: man pagoda\\-chat.
    \(rows)
    """
}

/// The page of a command.
package func manualPage(_ command: Command) -> String {
  var text = """
    .TH PAGODA\\-\(roff(command.name.uppercased())) 1 "" "pagoda \(PagodaVersion.current)"
    .SH NAME
    pagoda\\-\(roff(command.name)) \\- \(roff(command.summary))
    .SH SYNOPSIS
    .B pagoda \(roff(command.name))
    [options] \(roff(command.operands))

    """
  if !command.notes.isEmpty { text += ".SH DESCRIPTION\n" + paragraphs(command.notes) }
  for group in command.groups + [OptionGroup("Other", [.help])] {
    text += ".SH \(roff(group.title.uppercased()))\n"
    for option in group.options {
      let short = option.short.map { "\\-\($0), " } ?? ""
      let value = option.value.map { " \\fI\(roff($0))\\fR" } ?? ""
      text += ".TP\n\\fB\(short)\\-\\-\(roff(option.name))\\fR\(value)\n\(roff(option.help))\n"
    }
  }
  return text
}

/// Indented lines are shown as they are; the others are filled.
private func paragraphs(_ notes: String) -> String {
  notes.split(separator: "\n", omittingEmptySubsequences: false).map { line in
    if line.isEmpty { return ".PP\n" }
    return line.hasPrefix(" ") ? ".nf\n\(roff(String(line)))\n.fi\n" : roff(String(line)) + "\n"
  }.joined()
}

/// Text in which roff sees no requests and no escapes.
private func roff(_ text: String) -> String {
  let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
  return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
}
