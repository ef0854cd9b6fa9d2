// pagoda completions: completions for bash, zsh and fish, generated from the tables of commands and options.

extension Command {
  static let completions = Command(
    name: "completions",
    summary: "Prints shell completions for bash, zsh or fish.",
    operands: "bash|zsh|fish",
    notes: """
      Save the output where the shell looks for completions:
        bash: pagoda completions bash > ~/.local/share/bash-completion/completions/pagoda
        zsh:  pagoda completions zsh > "${fpath[1]}/_pagoda"
        fish: pagoda completions fish > ~/.config/fish/completions/pagoda.fish
      """,
    groups: [],
    run: { arguments in
      guard arguments.positionals.count == 1, let text = completionText(arguments.positionals[0], Command.all) else {
        throw UsageError("name one shell: bash, zsh or fish")
      }
      Terminal.write(text)
      return 0
    })
}

/// Nil for an unknown shell.
package func completionText(_ shell: String, _ commands: [Command]) -> String? {
  switch shell {
  case "bash": bash(commands)
  case "zsh": "#compdef pagoda\nautoload -U +X bashcompinit && bashcompinit\n" + bash(commands)
  case "fish": fish(commands)
  default: nil
  }
}

private func bash(_ commands: [Command]) -> String {
  let names = commands.map(\.name).joined(separator: " ")
  let cases = commands.map { command in
    let options = (command.options + [.help]).map { "--" + $0.name }.joined(separator: " ")
    return "    \(command.name)) words=\"\(options)\" ;;"
  }
  return """
    _pagoda() {
      local current="${COMP_WORDS[COMP_CWORD]}" words=""
      if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "\(names) help version" -- "$current"))
        return
      fi
      case "${COMP_WORDS[1]}" in
    \(cases.joined(separator: "\n"))
      esac
      case "$current" in
        -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
        *) COMPREPLY=($(compgen -f -- "$current")) ;;
      esac
    }
    complete -o filenames -F _pagoda pagoda

    """
}

private func fish(_ commands: [Command]) -> String {
  func quoted(_ text: String) -> String { "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'" }
  var lines = ["complete -c pagoda -f -n __fish_use_subcommand"]
  for command in commands {
    lines.append("complete -c pagoda -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.summary))")
    for option in command.options + [.help] {
      let short = option.short.map { " -s \($0)" } ?? ""
      lines.append(
        "complete -c pagoda -n '__fish_seen_subcommand_from \(command.name)' -l \(option.name)\(short)"
          + "\(option.value == nil ? "" : " -r") -d \(quoted(option.help))")
    }
  }
  return lines.joined(separator: "\n") + "\n"
}
