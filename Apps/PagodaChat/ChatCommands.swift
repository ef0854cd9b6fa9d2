// The menus: the windows' commands with keyboard shortcuts.
import PagodaChatCore
import SwiftUI

struct ChatCommands: Commands {
  let app: AppModel?
  /// The window in front; menus act on its conversation.
  @FocusedValue(\.chatWindow) private var window
  #if canImport(AppKit)
  @Environment(\.openWindow) private var openWindow
  #endif

  private var transcript: TranscriptModel? { window?.transcript }
  private var isEmpty: Bool { transcript?.messages.isEmpty != false }

  var body: some Commands {
    CommandGroup(replacing: .newItem) {
      Button(KeyboardMap.newChat.title) { app?.newChat(in: window) }
        .keyboardShortcut(KeyboardMap.newChat)
        .disabled(app == nil)
      #if canImport(AppKit)
      Button(KeyboardMap.newWindow.title) { openWindow(id: AppWindow.windowID) }
        .keyboardShortcut(KeyboardMap.newWindow)
      #endif
    }
    CommandMenu("Chat") {
      Button(KeyboardMap.stop.title) { transcript?.stop() }
        .keyboardShortcut(KeyboardMap.stop)
        .disabled(transcript?.isAnswering != true)
      Button(KeyboardMap.regenerate.title) { transcript?.regenerate() }
        .keyboardShortcut(KeyboardMap.regenerate)
        .disabled(transcript == nil || transcript?.isAnswering == true)
      Button(KeyboardMap.continueAnswer.title) { transcript?.continueAnswer() }
        .keyboardShortcut(KeyboardMap.continueAnswer)
        .disabled(transcript?.canContinue != true)
      Button(KeyboardMap.find.title) { transcript?.find.isShown = true }
        .keyboardShortcut(KeyboardMap.find)
        .disabled(isEmpty)
      Button(KeyboardMap.branch.title) {
        if let last = transcript?.messages.last { app?.branch(at: last.id, in: window) }
      }
      .keyboardShortcut(KeyboardMap.branch)
      .disabled(isEmpty)
      Divider()
      #if canImport(AppKit)
      Button(KeyboardMap.exportMarkdown.title) { if let transcript { Exporter.export(transcript, as: .markdown) } }
        .keyboardShortcut(KeyboardMap.exportMarkdown)
        .disabled(isEmpty)
      Button(KeyboardMap.exportJSON.title) { if let transcript { Exporter.export(transcript, as: .json) } }
        .keyboardShortcut(KeyboardMap.exportJSON)
        .disabled(isEmpty)
      Button("Export All Chats…") { if let app { Exporter.exportAll(app) } }.disabled(app == nil)
      Divider()
      #endif
      Button(KeyboardMap.delete.title) {
        if let id = window?.selection { window?.askToRemove(id) }
      }
      .keyboardShortcut(KeyboardMap.delete)
      .disabled(transcript == nil)
      Button(KeyboardMap.undoDelete.title) { window?.undoRemoval() }
        .keyboardShortcut(KeyboardMap.undoDelete)
        .disabled(window?.removed.isEmpty != false)
    }
    CommandMenu("Model") {
      Button(KeyboardMap.unload.title) { Task { await app?.unload() } }
        .keyboardShortcut(KeyboardMap.unload)
        .disabled(app?.engines.engine == nil)
    }
    #if canImport(AppKit)
    CommandGroup(replacing: .help) {
      Button(KeyboardMap.help.title) { openWindow(id: KeyboardMapView.windowID) }
        .keyboardShortcut(KeyboardMap.help)
    }
    #endif
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
