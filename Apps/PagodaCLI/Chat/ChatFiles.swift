// Files of a chat: reading, saving and loading; and its token counts.
import Foundation
import PagodaHub
import PagodaKit

/// The message of an error of any type.
func describeFailure(_ error: any Error) -> String {
  switch error {
  case let error as PagodaError: error.message
  case let error as HubError: error.message
  case let error as CommandFailure: error.message
  case let error as UsageError: error.message
  case is CancellationError: "cancelled"
  default: error.localizedDescription
  }
}

extension ChatLoop {
  private func path(_ text: String, _ command: String) throws -> String {
    if text.isEmpty { throw CommandFailure("\(command) needs a file") }
    return NSString(string: text).expandingTildeInPath
  }

  func read(_ name: String) throws -> String {
    let file = try path(name, "/read")
    let text = try Terminal.readFile(file)
    attached += "\(URL(filePath: file).lastPathComponent):\n```\n\(text)\(text.hasSuffix("\n") ? "" : "\n")```\n"
    let count = try session.engine.tokenizer?.encode(text).count
    return "\(name) goes before the next message\(count.map { " (\($0) tokens)" } ?? "").\n"
  }

  func image(_ name: String) throws -> String {
    let info = session.engine.info
    if let refusal = info.imageRefusal { throw CommandFailure("this model reads no images: \(refusal)") }
    let image = try readImage(try path(name, "/image"))
    let (size, tokens) = try imageFacts(image, info)
    attachedImages.append(image)
    return "\(name) goes before the next message (\(size), \(tokens) tokens).\n"
  }

  func save(_ name: String) throws -> String {
    let file = try path(name, "/save")
    let transcript = session.transcript
    let data: Data
    if file.hasSuffix(".md") {
      data = Data(markdown(transcript).utf8)
    } else {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      data = try encoder.encode(transcript)
    }
    do {
      try data.write(to: URL(filePath: file), options: .atomic)
    } catch {
      throw CommandFailure("\(name): cannot be written: \(error.localizedDescription)")
    }
    return "\(transcript.messages.count) messages are in \(name).\n"
  }

  func load(_ name: String) throws -> String {
    let text = try Terminal.readFile(try path(name, "/load"))
    guard let transcript = try? JSONDecoder().decode(Transcript.self, from: Data(text.utf8)) else {
      throw CommandFailure("\(name): is not a conversation that /save wrote as JSON")
    }
    adopt(ChatSession(session.engine, transcript: transcript), lora: session.lora)
    return "\(transcript.messages.count) messages are loaded.\n"
  }

  func tokens(_ text: String) throws -> String {
    guard let tokenizer = session.engine.tokenizer else { throw CommandFailure("this model has no tokenizer") }
    if !text.isEmpty { return "\(try tokenizer.encode(text).count) tokens\n" }
    // Templates refuse a conversation without messages.
    let used =
      try session.history.isEmpty ? tokenizer.encode(session.instructions ?? "").count : session.tokenCount()
    return "\(used) of \(session.engine.info.plan.maximumModelLength) tokens of context are in use.\n"
  }

  private func markdown(_ transcript: Transcript) -> String {
    let system = transcript.instructions.map { "> \($0.replacing("\n", with: "\n> "))\n\n" } ?? ""
    return system
      + transcript.messages.map { "## \($0.role.rawValue.capitalized)\n\n\(text(of: $0))\n" }.joined(separator: "\n")
  }

  /// Markdown has no place for an image's bytes: its size stands for it.
  private func text(of message: Message) -> String {
    message.parts.map { part in
      guard case .image(let image) = part else { return if case .text(let text) = part { text } else { "" } }
      let size = (try? image.pixelSize).map { ", \($0.width) x \($0.height) pixels" } ?? ""
      return "[image\(size)]\n\n"
    }.joined()
  }
}
