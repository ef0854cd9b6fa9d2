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
    groups: [
      OptionGroup(
        "Options", [Option("line", value: "TEXT", help: "print the words that may follow TEXT, one per line")])
    ],
    run: { arguments in
      if let line = arguments.string("line") {
        let words = Completer(commands: Command.all, models: Completer.knownModels()).words(for: line)
        Terminal.write(words.map { $0 + "\n" }.joined())
        return 0
      }
      guard arguments.positionals.count == 1, let text = completionScripts[arguments.positionals[0]] else {
        throw UsageError("name one shell: bash, zsh or fish")
      }
      Terminal.write(text)
      return 0
    })
}

/// The scripts ask the program itself for the words, so they need no change when options do. Without any, the shell
/// completes file names.
private let completionScripts = [
  // bash breaks words at colons and equal signs: what comes before the last of them is not replaced.
  "bash": """
  _pagoda() {
    local line="${COMP_LINE:0:COMP_POINT}" word prefix
    local current="${line##* }"
    prefix="${current%"${current##*[:=]}"}"
    COMPREPLY=()
    while IFS= read -r word; do COMPREPLY+=("${word#"$prefix"}"); done < <("$1" completions --line "$line" 2>/dev/null)
  }
  complete -o default -F _pagoda pagoda

  """,
  "zsh": """
  #compdef pagoda
  _pagoda() {
    local -a found
    found=("${(@f)$("${words[1]}" completions --line "${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then compadd -- "${found[@]}"; else _files; fi
  }
  if [[ "$funcstack[1]" = "_pagoda" ]]; then _pagoda "$@"; else compdef _pagoda pagoda; fi

  """,
  "fish": """
  function __pagoda_words
    set -l line (commandline -cp)
    set -l program (string split ' ' -- $line)[1]
    $program completions --line "$line" 2>/dev/null
  end
  complete -c pagoda -f -n 'count (__pagoda_words) >/dev/null' -a '(__pagoda_words)'

  """,
]
