// The window: sidebar, conversation, status bar, and the model library as a sheet.
import PagodaChatCore
import SwiftUI

struct ContentView: View {
  @Bindable var app: AppModel
  @State private var showsLibrary = false
  @State private var showsSettings = false

  var body: some View {
    NavigationSplitView {
      SidebarView(list: app.conversations)
    } detail: {
      VStack(spacing: 0) {
        if let transcript = app.conversations.transcript {
          TranscriptView(app: app, transcript: transcript).id(transcript.id)
        } else {
          ContentUnavailableView("No Chat", systemImage: "bubble.left", description: Text("Press ⌘N to begin one."))
        }
        Divider()
        StatusBar(app: app)
      }
    }
    .toolbar {
      ToolbarItem(placement: .primaryAction) {
        Button("New Chat", systemImage: "square.and.pencil") { app.newChat() }
          .help("Begin a new chat")
      }
      ToolbarItem(placement: .primaryAction) {
        Button("Models", systemImage: "shippingbox") { showsLibrary = true }
          .help("Choose, download or delete models")
      }
      ToolbarItem(placement: .primaryAction) {
        Button("Chat Settings", systemImage: "slider.horizontal.3") { showsSettings = true }
          .help("Instructions and sampling of this chat")
          .disabled(app.conversations.transcript == nil)
      }
    }
    .sheet(isPresented: $showsLibrary) { LibraryView(app: app) }
    .sheet(isPresented: $showsSettings) {
      if let transcript = app.conversations.transcript { ChatSettingsView(transcript: transcript) }
    }
    .task {
      await app.start()
      if app.conversations.selection == nil { app.newChat() }
      while !Task.isCancelled {
        try? await Task.sleep(for: .seconds(2))
        await app.tick()
      }
    }
  }
}

/// An error with its cause and possible remedies.
struct FailureView: View {
  let failure: ChatFailure

  var body: some View {
    HStack(alignment: .top, spacing: 8) {
      Image(systemName: "exclamationmark.triangle.fill").foregroundStyle(.orange).accessibilityHidden(true)
      VStack(alignment: .leading, spacing: 2) {
        Text(failure.title).font(.headline)
        Text(failure.cause).textSelection(.enabled)
        if let advice = failure.advice { Text(advice).foregroundStyle(.secondary) }
      }
    }
    .accessibilityElement(children: .combine)
    .accessibilityLabel("Error: \(failure.title). \(failure.cause)")
  }
}
