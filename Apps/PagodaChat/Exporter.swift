// Saves a chat to a file that the user chooses.
#if canImport(AppKit)
import AppKit
import Foundation
import PagodaChatCore

@MainActor
enum Exporter {
  static func exportAll(_ app: AppModel) {
    let panel = NSSavePanel()
    panel.nameFieldStringValue = "Chats.json"
    panel.title = localized("Export All Chats")
    guard panel.runModal() == .OK, let url = panel.url else { return }
    do {
      try app.exportAllChats().write(to: url, atomically: true, encoding: .utf8)
    } catch {
      app.conversations.failure = ChatFailure("The chats cannot be exported", error)
    }
  }

  static func export(_ transcript: TranscriptModel, as form: ConversationExport) {
    let panel = NSSavePanel()
    panel.nameFieldStringValue = form.fileName(of: transcript.conversation)
    panel.title = localized("Export Chat")
    guard panel.runModal() == .OK, let url = panel.url else { return }
    do {
      try transcript.export(form).write(to: url, atomically: true, encoding: .utf8)
    } catch {
      transcript.failure = ChatFailure("The chat cannot be exported", error)
    }
  }
}
#endif
