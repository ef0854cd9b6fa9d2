// The menus: the windows' commands with keyboard shortcuts.
import PagodaChatCore
import SwiftUI

struct ChatCommands: Commands {
  let app: AppModel?
  /// The window in front; menus act on its conversation.
  @FocusedValue(\.chatWindow) private var window

  private var transcript: TranscriptModel? { window?.transcript }

  var body: some Commands {
    CommandGroup(replacing: .newItem) {
      Button("New Chat") { app?.newChat(in: window) }
        .keyboardShortcut("n", modifiers: .command)
        .disabled(app == nil)
    }
    CommandMenu("Chat") {
      Button("Stop") { transcript?.stop() }
        .keyboardShortcut(".", modifiers: .command)
        .disabled(transcript?.isAnswering != true)
      Button("Regenerate") { transcript?.regenerate() }
        .keyboardShortcut("r", modifiers: .command)
        .disabled(transcript == nil || transcript?.isAnswering == true)
      Button("Branch from Here") {
        if let last = transcript?.messages.last { app?.branch(at: last.id, in: window) }
      }
      .keyboardShortcut("b", modifiers: [.command, .shift])
      .disabled(transcript?.messages.isEmpty != false)
      Divider()
      Button("Export as Markdown…") { if let transcript { Exporter.export(transcript, as: .markdown) } }
        .keyboardShortcut("e", modifiers: .command)
        .disabled(transcript?.messages.isEmpty != false)
      Button("Export as JSON…") { if let transcript { Exporter.export(transcript, as: .json) } }
        .disabled(transcript?.messages.isEmpty != false)
      Divider()
      Button("Delete Chat…") {
        if let id = window?.selection { window?.askToRemove(id) }
      }
      .keyboardShortcut(.delete, modifiers: .command)
      .disabled(transcript == nil)
      Button("Undo Delete Chat") { window?.undoRemoval() }
        .keyboardShortcut("z", modifiers: [.command, .option])
        .disabled(window?.removed.isEmpty != false)
    }
    CommandMenu("Model") {
      Button("Unload Model") { Task { await app?.unload() } }
        .keyboardShortcut("u", modifiers: [.command, .shift])
        .disabled(app?.engines.engine == nil)
    }
  }
}

private struct ChatWindowKey: FocusedValueKey {
  typealias Value = ConversationListModel
}

extension FocusedValues {
  /// The conversations of the window in front.
  var chatWindow: ConversationListModel? {
    get { self[ChatWindowKey.self] }
    set { self[ChatWindowKey.self] = newValue }
  }
}
