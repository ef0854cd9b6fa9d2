// The program: finds the command, runs it, turns errors into messages and exit codes.
import Foundation
import PagodaHub
import PagodaKit

extension Command {
  /// In the order of the help.
  package static let all: [Command] = [
    .chat, .generate, .serve, .batch, .tokenize, .info, .bench, .pull, .list, .remove, .quantize,
  ]
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
      // Loading cannot be cancelled; what it holds is memory only. Not exit(), whose destructors would meet running threads.
      DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) { _exit(ExitCode.interrupted) }
    }
    exit(await work.value)
  }

  private static func run(_ words: [String]) async -> Int32 {
    guard let name = words.first, !["help", "--help", "-h"].contains(name) else {
      Terminal.write(programHelp(Command.all))
      return 0
    }
    if name == "--version" {
      Terminal.write("pagoda \(PagodaVersion.current)\n")
      return 0
    }
    let isServeBench = words.starts(with: ["bench", "serve"])
    guard let command = isServeBench ? .benchServe : Command.all.first(where: { $0.name == name }) else {
      return usage("unknown command '\(name)'", help: "pagoda --help")
    }
    do {
      let arguments = try Arguments(
        Array(words.dropFirst(command.name.split(separator: " ").count)), options: command.options)
      if arguments.has("help") {
        Terminal.write(command.help)
        return 0
      }
      return try await command.run(arguments)
    } catch let error as UsageError {
      return usage(error.message, help: "pagoda \(command.name) --help")
    } catch let error as FieldError {
      return usage(error.message, help: "pagoda \(command.name) --help")
    } catch is CancellationError {
      return ExitCode.interrupted
    } catch let error as CommandFailure {
      Terminal.report(error.message)
    } catch let error as HubError {
      Terminal.report(error.message)
    } catch let error as PagodaError {
      Terminal.report(error.message)
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
