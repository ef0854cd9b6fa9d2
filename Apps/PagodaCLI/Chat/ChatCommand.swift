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
      new line; pasted lines are one message, and so are lines between \"\"\" and \"\"\". Lines that start with a slash are
      commands:
      \(columns(ChatCommands.all.map { ("  " + $0.name, $0.help) }).trimmingCharacters(in: .newlines))
      Without a terminal, each line of standard input is one message. Memory is planned for one conversation
      (--max-num-seqs 1) by default.
      """,
    groups: [
      OptionGroup("Conversation", [SharedOptions.model, SharedOptions.system] + SharedOptions.thinking),
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
  private var failed = false

  init(_ arguments: Arguments) async throws {
    var arguments = arguments
    try arguments.takeModelOperand()
    let sampling = try arguments.samplingParameters()
    let thinking = try arguments.thinking()
    let engine = try await arguments.loadEngine(try arguments.optionsForOnePerson())
    self.arguments = arguments
    session = ChatSession(engine, instructions: arguments.string("system"), sampling: sampling, thinking: thinking)
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
        await obey(message)
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

  /// Streams one answer; Ctrl-C stops it.
  func answer(_ message: String) async {
    let text = attached.isEmpty ? message : attached + "\n" + message
    let session = session
    let task = Task {
      var printer = AnswerPrinter()
      for try await event in session.streamEvents(to: text) { printer.show(event) }
      printer.finish()
    }
    Interrupts.shared.onInterrupt { task.cancel() }
    defer { Interrupts.shared.onInterrupt(nil) }
    do {
      try await task.value
      attached = ""
      Terminal.write(task.isCancelled ? " [stopped]\n" : "\n")
      if editor.isInteractive, let last = session.lastCompletion {
        Terminal.write(Style.dim(speedLine(last)) + "\n\n")
      }
    } catch {
      failed = true
      Terminal.report((error as? PagodaError)?.message ?? error.localizedDescription)
    }
  }
}

/// Writes an answer as it arrives: thinking dimmed and separate, lines wrapped between words.
private struct AnswerPrinter {
  private var isThinking = false
  private var wrap = WordWrap(width: Style.textWidth ?? 0)

  mutating func show(_ event: Event) {
    switch event {
    case .reasoning(let text):
      guard Terminal.outputIsTerminal else { return }
      isThinking = true
      Terminal.write(Style.dim(Terminal.printable(wrap.add(text))))
    case .text(let text):
      if isThinking { endThinking() }
      Terminal.writeAnswer(wrap.add(text))
    case .toolCall, .rejectedToolCall, .token, .finished: break
    }
  }

  mutating func finish() {
    if isThinking { endThinking() }
    Terminal.writeAnswer(wrap.finish())
  }

  private mutating func endThinking() {
    Terminal.write(Style.dim(Terminal.printable(wrap.finish())) + "\n\n")
    isThinking = false
    wrap = WordWrap(width: Style.textWidth ?? 0)
  }
}

/// Tokens, speed, and the time to the first token.
package func speedLine(_ completion: Completion) -> String {
  var parts = ["\(completion.usage.completionTokens) tokens"]
  if let speed = completion.tokensPerSecond { parts.append(String(format: "%.1f tokens/s", speed)) }
  let first = (completion.timings.queueMilliseconds + completion.timings.promptMilliseconds) / 1000
  parts.append(String(format: "first after %.2f s", first))
  if completion.usage.cachedTokens > 0 {
    parts.append("\(completion.usage.cachedTokens) of \(completion.usage.promptTokens) prompt tokens cached")
  }
  if completion.timings.draftedTokens > 0 {
    parts.append("\(completion.timings.acceptedTokens) of \(completion.timings.draftedTokens) drafts accepted")
  }
  if completion.finishReason == .length { parts.append("cut at the token limit") }
  return parts.joined(separator: " · ")
}
