// pagoda chat: a conversation in the terminal, or scripted through a pipe.
import Foundation
import PagodaKit

extension Command {
  static let chat = Command(
    name: "chat",
    summary: "Chats with a model.",
    operands: "[MODEL]",
    notes: """
      MODEL is anything that --model accepts. Ctrl-C stops an answer or clears the line, Ctrl-D leaves. Alt-Enter starts a
      new line, Ctrl-R searches earlier lines, also those of other days; pasted lines are one message, and so are lines between \"\"\" and \"\"\". Lines that start with a slash are
      commands:
      \(columns(ChatCommands.all.map { ("  " + $0.name, $0.help) }).trimmingCharacters(in: .newlines))
      `pagoda run` is the same; `pagoda run MODEL PROMPT` answers one prompt and exits, as `pagoda ask` does.
      Without a terminal, each line of standard input is one message. Memory is planned for one conversation
      (--max-num-seqs 1) by default.
      """,
    groups: [
      OptionGroup(
        "Conversation",
        [SharedOptions.model, SharedOptions.system] + SharedOptions.thinking + [
          Option(
            "context-policy", value: "WHAT",
            help: "when the context is full: trim (default: the oldest turns leave the prompt) or stop"),
          Option("no-history", help: "keep typed lines in memory only, not in a file"),
        ]),
      SharedOptions.sampling,
      SharedOptions.engine,
    ],
    run: { try await ChatLoop($0).run() })
}

/// One run of `pagoda chat`.
final class ChatLoop {
  var arguments: Arguments
  var session: ChatSession
  let editor = LineEditor()
  /// Text of files to insert before the next message.
  var attached = ""
  /// Images to put before the next message.
  var attachedImages: [ImageInput] = []
  /// The last message, if it got no answer; /retry sends it again.
  var unanswered: String?
  private let contextPolicy: ContextPolicy
  private var omittedMessages = 0
  private var failed = false

  init(_ arguments: Arguments) async throws {
    var arguments = arguments
    try arguments.takeModelOperand()
    let sampling = try arguments.samplingParameters()
    let thinking = try arguments.thinking()
    contextPolicy = try arguments.choice("context-policy") ?? .trim
    let engine = try await arguments.loadChatEngine()
    self.arguments = arguments
    session = ChatSession(engine, instructions: arguments.string("system"), sampling: sampling, thinking: thinking)
    session.contextPolicy = contextPolicy
    session.lora = engine.loras.first?.name
    if editor.isInteractive && !arguments.has("no-history") {
      editor.history = LineHistory(path: LineHistory.standardPath())
    }
    editor.completions = ChatCommands.all.map { String($0.name.prefix { $0 != " " }) }
  }

  func run() async throws -> Int32 {
    if editor.isInteractive { Terminal.write(await chatBanner(arguments.modelName, session.engine.info)) }
    Interrupts.shared.onInterrupt(nil)
    while let message = nextMessage() {
      if message.isEmpty { continue }
      if ChatCommands.leaving.contains(message.lowercased()) { break }
      // Pasted text of several lines is a message, even if it starts with a slash.
      if message.hasPrefix("/") && !message.contains("\n") {
        await run(command: message)
      } else {
        await answer(message)
      }
    }
    if editor.isInteractive { Terminal.write("\n") }
    await session.engine.shutDown()
    return failed && !editor.isInteractive ? 1 : 0
  }

  /// The next message with white space trimmed; nil at the end of input.
  private func nextMessage() -> String? {
    let quotes = "\"\"\""
    guard let line = editor.read(prompt: "> ") else { return nil }
    let first = line.trimmingCharacters(in: .whitespacesAndNewlines)
    guard first.hasPrefix(quotes) else { return first }
    var block = String(first.dropFirst(quotes.count))
    while !block.hasSuffix(quotes) {
      guard let more = editor.read(prompt: "… ") else { break }
      block += "\n" + more
    }
    if block.hasSuffix(quotes) { block.removeLast(quotes.count) }
    return block.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Continues with another session of the same chat.
  /// - Parameter lora: the adapter to use, which transcripts do not name.
  func adopt(_ next: ChatSession, lora: String?) {
    session = next
    session.contextPolicy = contextPolicy
    session.lora = lora
    (unanswered, omittedMessages) = (nil, 0)
  }

  /// Streams one answer; Ctrl-C stops it. A message without an answer is kept for /retry, and so are its files.
  func answer(_ message: String) async {
    let text = attached.isEmpty ? message : attached + "\n" + message
    let session = session
    let before = session.history.count
    let quiet = editor.isInteractive ? QuietMode() : nil
    let use = MachineUse()
    defer { quiet?.restore() }
    let (events, known) = (
      session.streamEvents(to: Message.user(text, images: attachedImages), options: progressOptions), omittedMessages
    )
    let task = Task {
      var printer = AnswerPrinter(omittedMessages: known)
      do {
        for try await event in events { printer.show(event) }
      } catch is CancellationError {
        printer.finish()
        throw CancellationError()
      }
      printer.finish()
      return printer.omittedMessages
    }
    Interrupts.shared.onInterrupt { task.cancel() }
    defer { Interrupts.shared.onInterrupt(nil) }
    do {
      omittedMessages = try await task.value
      unanswered = nil
      (attached, attachedImages) = ("", [])
      Terminal.write("\n")
      if editor.isInteractive, let last = session.lastCompletion {
        let parts = speedParts(last, context: session.engine.info.plan.maximumModelLength, others: use.others())
        Terminal.write(Style.dim(fittingParts(parts)) + "\n\n")
      }
    } catch is CancellationError {
      let isKept = session.history.count > before
      unanswered = isKept ? nil : message
      if isKept { (attached, attachedImages) = ("", []) }
      // On a line of its own: after the last word the terminal could break it.
      let notice = isKept ? "[stopped]" : "[stopped; /retry sends the message again]"
      Terminal.write((isKept ? "\n" : "") + Style.dim(fittingLine(notice)) + "\n")
    } catch {
      failed = true
      unanswered = message
      Terminal.report(explained(error))
    }
  }

  private var progressOptions: ResponseOptions {
    ResponseOptions(promptProgressInterval: editor.isInteractive && Style.canMoveCursor ? 0.5 : nil)
  }

  /// The engine's message, with what the user can do about a full context.
  private func explained(_ error: any Error) -> String {
    guard case PagodaError.contextOverflow(let message) = error else { return describeFailure(error) }
    let remedy =
      contextPolicy == .stop
      ? "/undo forgets the last turn, /reset the conversation; --context-policy trim lets the oldest turns go."
      : "The message alone is too long: /undo forgets it and its files; --max-model-len sets the context."
    return message + "\n" + remedy
  }
}

/// A text wrapped to the terminal.
func fittingLine(_ text: String) -> String { Style.textWidth.map { wrapped(text, width: $0) } ?? text }

/// Parts separated by dots, wrapped to the terminal between parts.
func fittingParts(_ parts: [String]) -> String { joined(parts, width: Style.textWidth) }

/// The same for any width; nil wraps nothing.
package func joined(_ parts: [String], width: Int?) -> String {
  let glued = parts.map { part in
    columnWidth(of: part) + 2 > width ?? .max ? part : part.replacing(" ", with: "\u{A0}")
  }.joined(separator: "\u{A0}· ")
  return (width.map { wrapped(glued, width: $0) } ?? glued).replacing("\u{A0}", with: " ")
}
