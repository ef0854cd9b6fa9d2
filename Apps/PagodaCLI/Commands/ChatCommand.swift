// pagoda chat: a conversation in the terminal, or scripted through a pipe.
import Foundation
import PagodaKit

extension Command {
  static let chat = Command(
    name: "chat",
    summary: "Talks with a model.",
    operands: "",
    notes: """
      Ctrl-C stops an answer, Ctrl-D leaves. Lines that begin with a slash are commands:
      \(columns(ChatCommand.commands.map { ("  " + $0.name, $0.help) }).trimmingCharacters(in: .newlines))
      Without a terminal, each line of standard input is one message.
      """,
    groups: [
      OptionGroup("Conversation", [SharedOptions.model, SharedOptions.system] + SharedOptions.thinking),
      SharedOptions.sampling,
      SharedOptions.engine,
    ],
    run: ChatCommand.run)
}

enum ChatCommand {
  static let commands: [(name: String, help: String)] = [
    ("/reset", "forget the conversation"),
    ("/system TEXT", "set the instructions and forget the conversation; without TEXT, show them"),
    ("/stats", "show the figures of the last answer and of the engine"),
    ("/help", "show these commands"),
    ("/quit", "leave"),
  ]

  @Sendable static func run(_ arguments: Arguments) async throws -> Int32 {
    try arguments.refusePositionals()
    let sampling = try arguments.samplingParameters()
    let thinking = try arguments.thinking()
    let engine = try await arguments.loadEngine()
    let session = ChatSession(engine, instructions: arguments.string("system"), sampling: sampling, thinking: thinking)
    let editor = LineEditor()
    if editor.isInteractive {
      let model = arguments.string("model") ?? "mini"
      Terminal.write("\(model) (\(engine.info.family)) on \(engine.info.device). /help shows the commands.\n")
    }
    Interrupts.shared.onInterrupt(nil)

    var failed = false
    while let line = editor.read(prompt: "> ") {
      let message = line.trimmingCharacters(in: .whitespaces)
      if message.isEmpty { continue }
      if message == "/quit" || message == "/exit" { break }
      if message.hasPrefix("/") {
        Terminal.write(obey(message, session))
      } else if await !answer(message, session) {
        failed = true
      }
    }
    if editor.isInteractive { Terminal.write("\n") }
    await engine.shutDown()
    return failed && !editor.isInteractive ? 1 : 0
  }

  /// Streams one answer; Ctrl-C stops it. False when it failed.
  private static func answer(_ message: String, _ session: ChatSession) async -> Bool {
    let task = Task {
      var thought = false
      for try await event in session.streamEvents(to: message) {
        switch event {
        case .reasoning(let text):
          if Terminal.outputIsTerminal { Terminal.write(Terminal.dim(Terminal.printable(text))) }
          thought = true
        case .text(let text):
          if thought && Terminal.outputIsTerminal { Terminal.write("\n\n") }
          thought = false
          Terminal.writeAnswer(text)
        case .toolCall, .rejectedToolCall, .token, .finished: break
        }
      }
    }
    Interrupts.shared.onInterrupt { task.cancel() }
    defer { Interrupts.shared.onInterrupt(nil) }
    do {
      try await task.value
      Terminal.write(task.isCancelled ? " [stopped]\n" : "\n")
      return true
    } catch {
      Terminal.report((error as? PagodaError)?.message ?? error.localizedDescription)
      return false
    }
  }

  /// What a slash command prints.
  private static func obey(_ line: String, _ session: ChatSession) -> String {
    let parts = line.split(separator: " ", maxSplits: 1)
    switch parts[0] {
    case "/reset":
      session.reset()
      return "The conversation is forgotten.\n"
    case "/system":
      guard parts.count == 2 else { return (session.instructions ?? "There are no instructions.") + "\n" }
      session.instructions = String(parts[1])
      session.reset()
      return "The instructions are set, the conversation is forgotten.\n"
    case "/stats": return statistics(session)
    case "/help": return columns(commands.map { ("  " + $0.name, $0.help) })
    default: return "Unknown command \(parts[0]); /help shows the commands.\n"
    }
  }

  private static func statistics(_ session: ChatSession) -> String {
    var rows: [(String, String)] = []
    if let last = session.lastCompletion {
      rows.append(("prompt", "\(last.usage.promptTokens) tokens, \(reuse(last.usage))"))
      rows.append(("answer", "\(last.usage.completionTokens) tokens (\(last.finishReason.rawValue))"))
      rows.append(("time to first token", String(format: "%.0f ms", last.timings.promptMilliseconds)))
      rows.append(("speed", last.tokensPerSecond.map { String(format: "%.1f tokens/s", $0) } ?? "-"))
    }
    let engine = session.engine.statistics
    rows.append(("KV blocks in use", "\(engine.blocks - engine.freeBlocks) of \(engine.blocks)"))
    let cache = engine.prefixCache
    rows.append(("prefixes kept", "\(cache.cachedBlocks) blocks, \(states(cache))"))
    rows.append(("prefixes found", "\(cache.hits) of \(cache.lookups) times, \(cache.cachedTokens) tokens"))
    if let disk = engine.disk { rows.append(("prefixes on disk", describe(disk))) }
    rows.append(("messages", String(session.history.count)))
    return columns(rows.map { ("  " + $0.0, $0.1) })
  }

  /// How much of a prompt was known, and where it parted from what was.
  package static func reuse(_ usage: Usage) -> String {
    let cached = "\(usage.cachedTokens) of them cached"
    let parted = usage.matchedTokens > usage.cachedTokens && usage.matchedTokens < usage.promptTokens
    return parted ? cached + "; parted at token \(usage.matchedTokens) from what was known" : cached
  }

  private static func states(_ cache: PrefixCacheStatistics) -> String {
    "\(cache.checkpoints) of \(cache.maximumCheckpoints) states (\(readable(bytes: cache.checkpointBytes)))"
  }

  private static func describe(_ disk: DiskCacheStatistics) -> String {
    let size = "\(disk.files) files, \(readable(bytes: disk.bytes)) of \(readable(bytes: disk.maximumBytes))"
    return "\(size), \(disk.reads) read, \(disk.writes) written" + (disk.offReason.map { "; off: \($0)" } ?? "")
  }
}
