// Exports a conversation: Markdown for people, JSON for programs.
import Foundation

/// An export format.
public enum ConversationExport: String, CaseIterable, Sendable {
  /// The visible path, with a heading per author.
  case markdown
  /// Everything: all branches, settings and statistics.
  case json

  /// The usual file extension.
  public var fileExtension: String { self == .markdown ? "md" : "json" }

  /// The exported text.
  public func text(of conversation: Conversation, _ messages: MessageTree) throws -> String {
    switch self {
    case .markdown: Self.markdown(conversation, messages.path(to: conversation.leafID))
    case .json: try Self.json(conversation, messages.all)
    }
  }

  /// A file name without characters that file systems reject.
  public func fileName(of conversation: Conversation) -> String {
    let kept = conversation.title.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : " " }
    let words = String(kept).split(separator: " ").joined(separator: " ")
    return (words.isEmpty ? localized("Chat") : String(words.prefix(60))) + "." + fileExtension
  }

  private static func markdown(_ conversation: Conversation, _ path: [ChatMessage]) -> String {
    var parts = ["# \(conversation.title.isEmpty ? localized("Chat") : conversation.title)"]
    if !conversation.settings.instructions.isEmpty { parts.append("> \(quoted(conversation.settings.instructions))") }
    for message in path {
      parts.append(message.role == .user ? "## \(localized("You"))" : "## \(message.modelName ?? localized("Model"))")
      if !message.reasoning.isEmpty {
        let thinking = message.reasoning.trimmingCharacters(in: .whitespacesAndNewlines)
        parts.append("<details><summary>\(localized("Thinking"))</summary>\n\n\(thinking)\n\n</details>")
      }
      parts += (message.attachments ?? []).map(\.markdown)
      parts.append(message.text.trimmingCharacters(in: .whitespacesAndNewlines))
      if case .failed(let reason) = message.state { parts.append("*\(localized("The answer failed")): \(reason)*") }
      if message.state == .stopped { parts.append("*\(localized("Stopped")).*") }
      if message.state == .cutOff { parts.append("*\(localized("Cut off at the token limit")).*") }
    }
    return parts.joined(separator: "\n\n") + "\n"
  }

  private static func quoted(_ text: String) -> String { text.replacingOccurrences(of: "\n", with: "\n> ") }

  struct Document: Codable {
    static let formatName = "pagoda-conversation"
    var format = Self.formatName
    var version = StoreReader.version
    var conversation: Conversation
    var messages: [ChatMessage]
  }

  private static func json(_ conversation: Conversation, _ messages: [ChatMessage]) throws -> String {
    try encoded(Document(conversation: conversation, messages: messages))
  }

  static func encoded(_ document: some Encodable) throws -> String {
    let encoder = JSONEncoder.store
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting.insert(.prettyPrinted)
    return String(decoding: try encoder.encode(document), as: UTF8.self) + "\n"
  }
}
