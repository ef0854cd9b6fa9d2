// Terminal: standard streams and Ctrl-C.
import Foundation

enum Terminal {
  static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
  static let errorIsTerminal = isatty(STDERR_FILENO) == 1
  static let inputIsTerminal = isatty(STDIN_FILENO) == 1

  /// Ends the program when standard output is closed.
  static func write(_ text: String) {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    } catch {
      report("standard output cannot be written to")
      exit(1)
    }
  }

  /// Sentences on standard output, wrapped by words if that is a terminal.
  static func say(_ text: String) { write(fittingLine(text) + "\n") }
  static func writeError(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
  static func report(_ message: String) { writeError(fitted("pagoda: error: \(message)") + "\n") }
  /// Lines on standard error, as they are.
  static func remark(_ text: String) { writeError(fitted(text)) }
  /// A remark that is not an error, on standard error.
  static func note(_ message: String) { writeError(fitted("pagoda: \(message)") + "\n") }

  /// The same in dim letters at a terminal.
  static func dimNote(_ message: String) {
    let text = fitted("pagoda: \(message)")
    writeError((errorIsTerminal ? Style.dim(text) : text) + "\n")
  }

  /// Wrapped by words if standard error is a terminal.
  static func fitted(_ text: String) -> String {
    Style.width(of: STDERR_FILENO).map { wrapped(text, width: min($0, 100)) } ?? text
  }

  /// Writes a model's text to standard output, without control characters if that is a terminal, which would interpret
  /// them.
  static func writeAnswer(_ text: String) { write(outputIsTerminal ? printable(text) : text) }

  static func printable(_ text: String) -> String {
    let kept = text.unicodeScalars.filter { $0 == "\n" || $0 == "\t" || $0.properties.generalCategory != .control }
    return String(String.UnicodeScalarView(kept))
  }

  /// Asks a question that is answered with y or n. False without a terminal.
  /// - Parameter byDefault: what Enter means.
  static func confirm(_ question: String, byDefault: Bool = true) -> Bool {
    guard inputIsTerminal && errorIsTerminal else { return false }
    writeError(fitted("\(question) \(byDefault ? "[Y/n]" : "[y/N]")") + " ")
    guard let answer = readLine() else { return false }
    return ["y", "yes"].contains(answer.trimmingCharacters(in: .whitespaces).lowercased())
      || (byDefault && answer.isEmpty)
  }

  /// All of standard input; throws when it is not UTF-8.
  static func readInput() throws -> String {
    guard let text = String(data: FileHandle.standardInput.readDataToEndOfFile(), encoding: .utf8) else {
      throw CommandFailure("standard input is not UTF-8 text")
    }
    return text
  }

  /// The same, but not from a terminal: a program that waits there in silence looks stuck.
  /// - Parameter hint: what the user can give instead.
  static func readPipe(or hint: String) throws -> String {
    if inputIsTerminal { throw UsageError(hint) }
    return try readInput()
  }

  /// - Parameter path: a file, or `-` for standard input.
  static func readFile(_ path: String) throws -> String {
    if path == "-" { return try readInput() }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw CommandFailure("\(path): cannot be read")
    }
    guard let text = String(data: data, encoding: .utf8) else { throw CommandFailure("\(path): is not UTF-8 text") }
    return text
  }

  static func write(_ text: String, toFile path: String) throws {
    do {
      try Data(text.utf8).write(to: URL(filePath: path))
    } catch {
      throw CommandFailure("\(path): cannot be written")
    }
  }
}

/// A failure of a command that is not the engine's; exit code 1.
struct CommandFailure: Error {
  var message: String

  init(_ message: String) { self.message = message }
}

/// Turns Ctrl-C into a call instead of ending the process.
final class Interrupts: @unchecked Sendable {
  static let shared = Interrupts()

  private let lock = NSLock()
  private var action: (@Sendable () -> Void)?
  private let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())

  private init() {
    signal(SIGINT, SIG_IGN)
    source.setEventHandler { [self] in lock.withLock { action }?() }
    source.resume()
  }

  /// Sets the action of Ctrl-C from now on; nil ignores it.
  func onInterrupt(_ action: (@Sendable () -> Void)?) { lock.withLock { self.action = action } }
}
