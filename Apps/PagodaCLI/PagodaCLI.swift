// The program: finds the command, runs it, turns errors into messages and exit codes.
import Foundation
import PagodaHub
import PagodaKit

extension Command {
  /// All commands, in the order shown by the help.
  package static let all: [Command] = [
    .chat, .generate, .serve, .stage, .batch, .tokenize, .embed, .info, .bench, .pull, .list, .remove, .quantize, .ps,
    .stop, .top, .config, .completions, .man, .replay,
  ]

  /// Aliases known from other programs.
  private static let synonyms = ["run": "chat", "ls": "list", "remove": "rm", "ask": "generate", "show": "info"]
  /// All words that name a command, for suggestions.
  static var names: [String] { all.map(\.name) + synonyms.keys.sorted() }

  /// The command named by the first words, and the number of words in its name.
  package static func find(_ words: [String]) -> (command: Command, count: Int)? {
    if words.starts(with: ["bench", "serve"]) { return (.benchServe, 2) }
    if words.starts(with: ["bench", "spec"]) { return (.benchSpec, 2) }
    if words.starts(with: ["bench", "agents"]) { return (.benchAgents, 2) }
    guard let name = words.first else { return nil }
    if name == "run" && hasPrompt(words.dropFirst()) { return (.runPrompt, 1) }
    return all.first { $0.name == synonyms[name] ?? name }.map { ($0, 1) }
  }

  /// Whether the words after `run` name a model and a prompt.
  private static func hasPrompt(_ words: ArraySlice<String>) -> Bool {
    let arguments = try? Arguments(Array(words), options: generate.options + chat.options)
    return (arguments?.positionals.count ?? 0) > 1
  }
}

@main
enum PagodaCLI {
  private enum ExitCode {
    static let failure: Int32 = 1
    static let usage: Int32 = 64
    static let interrupted: Int32 = 130
  }

  static func main() async {
    signal(SIGPIPE, SIG_DFL)  // `pagoda generate | head` ends quietly
    let words = Array(CommandLine.arguments.dropFirst())
    let work = Task { await run(words) }
    Interrupts.shared.onInterrupt {
      work.cancel()
      // Loading cannot be cancelled, and holds only memory. Not exit(), whose destructors would race with running
      // threads.
      DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) { _exit(ExitCode.interrupted) }
    }
    let status = await work.value
    fflush(nil)
    _exit(status)  // as above: an interrupted answer may leave the engine running
  }

  private static func run(_ words: [String]) async -> Int32 {
    guard let name = words.first, !["--help", "-h"].contains(name), words != ["help"] else {
      Terminal.write(programHelp(Command.all, width: Style.textWidth))
      return 0
    }
    if ["--version", "-v", "-V", "version"].contains(name) {
      Terminal.write("pagoda \(PagodaVersion.current)\n")
      return 0
    }
    let isHelp = name == "help"
    let rest = isHelp ? Array(words.dropFirst()) : words
    guard let (command, count) = Command.find(rest) else {
      if rest[0].contains(" ") { return usage("to ask a question, use: pagoda ask \"...\"", help: "pagoda --help") }
      let near = suggestion(for: rest[0], among: Command.names)
      return usage(
        "unknown command '\(rest[0])'" + (near.map { "; did you mean '\($0)'?" } ?? ""), help: "pagoda --help")
    }
    let typed = (["pagoda"] + rest.prefix(count)).joined(separator: " ")  // also an alias
    var arguments = Arguments()
    do {
      arguments = try Arguments(Array(rest.dropFirst(count)), options: command.options)
      if isHelp || arguments.has("help") {
        Terminal.write(command.help(width: Style.textWidth))
        return 0
      }
      let defaults = try Defaults.current()
      for remark in defaults.remarks(path: Defaults.path) { Terminal.note(remark) }
      try defaults.apply(to: &arguments, of: command)
      return try await command.run(arguments)
    } catch let error as UsageError {
      return usage(arguments.namingSources(error.message), help: "\(typed) --help")
    } catch let error as FieldError {
      return usage(arguments.namingSources(error.message), help: "\(typed) --help")
    } catch is CancellationError {
      return ExitCode.interrupted
    } catch let error as CommandFailure {
      Terminal.report(error.message)
    } catch let error as HubError {
      Terminal.report(error.message)
    } catch let error as PagodaError {
      Terminal.report(arguments.namingSources(error.message))
    } catch let error as RefusedField {
      Terminal.report(arguments.namingSources(error.named(.flags).message))
    } catch {
      Terminal.report(error.localizedDescription)
    }
    return ExitCode.failure
  }

  private static func usage(_ message: String, help: String) -> Int32 {
    Terminal.report("\(message)\nTry '\(help)'.")
    return ExitCode.usage
  }
}
