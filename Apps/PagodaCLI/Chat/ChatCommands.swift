// The slash commands of a chat.
import Foundation
import PagodaKit

enum ChatCommands {
  static let all: [(name: String, help: String)] = [
    ("/help", "show these commands"),
    ("/retry", "answer the last message again"),
    ("/undo", "forget the last message and its answer"),
    ("/reset", "forget the conversation"),
    ("/system TEXT", "set the instructions and forget the conversation; without TEXT, show them"),
    ("/set NAME VALUE", "set a sampling parameter, such as temperature 0.7; without NAME, show them"),
    ("/think on|off|auto", "whether the model thinks before it answers"),
    ("/model NAME", "continue with another model; without NAME, show this one"),
    ("/read FILE", "put a text file before the next message"),
    ("/image FILE", "put an image before the next message: PNG, JPEG or WebP"),
    ("/save FILE", "write the conversation to a file: JSON, or Markdown if its name ends with .md"),
    ("/load FILE", "continue a conversation that was saved as JSON"),
    ("/tokens TEXT", "count the tokens of TEXT; without it, those of the conversation"),
    ("/stats", "show statistics of the last answer and of the engine"),
    ("/bye", "leave; also /quit, /exit, exit, quit and Ctrl-D"),
  ]

  static let leaving: Set = ["/bye", "/quit", "/exit", "exit", "quit", "bye"]
}

extension ChatLoop {
  func run(command line: String) async {
    let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
    do {
      if parts[0] == "/retry" { return try await retry() }
      if parts[0] == "/model" { return Terminal.write(try await changeModel(rest)) }  // wrapped, with styles
      Terminal.write(fittingLine(try reply(to: parts[0], rest)))
    } catch {
      Terminal.report(describeFailure(error))
    }
  }

  private func reply(to command: String, _ rest: String) throws -> String {
    switch command {
    case "/help": return columns(ChatCommands.all.map { ("  " + $0.name, $0.help) }, width: Style.textWidth)
    case "/undo":
      if unanswered != nil {
        (unanswered, attached, attachedImages) = (nil, "", [])
        return "The message without an answer is forgotten.\n"
      }
      return try undo() == nil ? "" : "The last message and its answer are forgotten.\n"
    case "/reset":
      session.reset()
      return "The conversation is forgotten.\n"
    case "/system":
      if rest.isEmpty { return (session.instructions ?? "There are no instructions.") + "\n" }
      session.instructions = rest
      session.reset()
      return "The instructions are set, the conversation is forgotten.\n"
    case "/set": return try set(rest)
    case "/think": return try think(rest)
    case "/read": return try read(rest)
    case "/image": return try image(rest)
    case "/save": return try save(rest)
    case "/load": return try load(rest)
    case "/tokens": return try tokens(rest)
    case "/stats": return statistics(session)
    default:
      let known = ChatCommands.all.map { String($0.name.prefix { $0 != " " }) }
      let near = suggestion(for: command, among: known).map { "; did you mean \($0)?" } ?? ""
      return "Unknown command \(command)\(near.isEmpty ? "; /help shows the commands." : near)\n"
    }
  }

  /// Removes the user's last message and everything after it; returns the message.
  private func undo() throws -> Message? {
    var history = session.history
    guard let index = history.lastIndex(where: { $0.role == .user }) else {
      throw CommandFailure("there is no message yet")
    }
    let message = history[index]
    history.removeSubrange(index...)
    session.history = history
    return message
  }

  private func retry() async throws {
    if let message = unanswered { return await answer(message) }
    guard let message = try undo() else { return }
    attachedImages = message.images
    await answer(message.content)
  }

  private func set(_ rest: String) throws -> String {
    let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
    let fields = SamplingField.all.filter { $0.name != "top-logprobs" }
    guard let given = words.first else {
      let sampling = session.sampling
      let rows = fields.map { ("  \($0.name) = \($0.value(in: sampling) ?? "default")", $0.help) }
      return columns(rows, width: Style.textWidth)
    }
    let name = given.replacing("_", with: "-")
    guard let field = fields.first(where: { $0.name == name || (name == "temp" && $0.name == "temperature") }) else {
      let near = suggestion(for: name, among: fields.map(\.name))
      throw CommandFailure(
        "there is no parameter '\(given)'" + (near.map { "; did you mean \($0)?" } ?? "; /set lists them"))
    }
    guard words.count == 2 || field.placeholder == nil else { throw CommandFailure("/set \(field.name) needs a value") }
    var arguments = Arguments()
    arguments.values[field.name] = [words.count == 2 ? words[1] : ""]
    var sampling = session.sampling
    do {
      try field.apply(arguments, to: &sampling)
    } catch let error as FieldError {
      throw CommandFailure(error.message.replacing("--", with: ""))
    } catch let error as UsageError {
      throw CommandFailure(error.message.replacing("--", with: ""))
    }
    session.sampling = sampling
    return "\(field.name) is \(words.count == 2 ? words[1] : "on").\n"
  }

  private func think(_ rest: String) throws -> String {
    switch rest {
    case "on": session.thinking = true
    case "off": session.thinking = false
    case "auto": session.thinking = nil
    default: throw CommandFailure("/think takes on, off or auto")
    }
    return "Thinking is \(rest).\n"
  }

  private func changeModel(_ name: String) async throws -> String {
    if name.isEmpty { return await chatBanner(arguments.modelName, session.engine.info) }
    var changed = arguments
    changed.values["model"] = [name]
    changed.values["shape"] = nil
    // Load the new model first: if that fails, the conversation continues with the old one.
    let engine = try await changed.loadChatEngine()
    let old = session.engine
    let transcript = session.transcript
    adopt(ChatSession(engine, transcript: transcript), lora: engine.loras.first?.name)
    arguments = changed
    await old.shutDown()
    return await chatBanner(name, engine.info)
  }
}
