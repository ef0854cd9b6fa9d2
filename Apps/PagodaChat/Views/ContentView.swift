// The window: sidebar, conversation, status bar, and the model library as a sheet.
import PagodaChatCore
import SwiftUI

struct ContentView: View {
  let app: AppModel
  @State private var window: ConversationListModel
  @State private var showsLibrary = false
  @State private var showsWelcome = false
  @State private var welcome: WelcomeModel
  @State private var showsSettings = false
  @State private var showsAppSettings = false

  /// The first window shows the app's own list, with the selection of the last session; further ones have their own.
  init(app: AppModel) {
    self.app = app
    _window = State(wrappedValue: app.claimWindow())
    _welcome = State(wrappedValue: WelcomeModel(app: app))
  }

  var body: some View {
    NavigationSplitView {
      SidebarView(list: window)
    } detail: {
      VStack(spacing: 0) {
        if let failure = app.failure(in: window) {
          HStack {
            FailureView(failure: failure)
            Spacer()
            Button("Dismiss") { app.dismissFailure(in: window) }
          }
          .padding(10)
          .background(Color.orange.opacity(0.12))
        }
        if let transcript = window.transcript {
          TranscriptView(app: app, window: window, transcript: transcript).id(transcript.id)
        } else {
          ContentUnavailableView("No Chat", systemImage: "bubble.left", description: Text("Press ⌘N to begin one."))
        }
        Divider()
        StatusBar(app: app, window: window)
      }
    }
    .toolbar {
      ToolbarItem(placement: .primaryAction) {
        Button("New Chat", systemImage: "square.and.pencil") { app.newChat(in: window) }
          .help("Begin a new chat")
      }
      ToolbarItem(placement: .primaryAction) {
        Button("Models", systemImage: "shippingbox") { showsLibrary = true }
          .keyboardShortcut(KeyboardMap.library)
          .help("Choose, download or delete models")
      }
      ToolbarItem(placement: .primaryAction) {
        ShareLink("Share Chat", item: window.transcript?.shareText ?? "")
          .help("Share this chat as Markdown")
          .disabled(window.transcript?.canShare != true)
      }
      ToolbarItem(placement: .primaryAction) {
        Button("Chat Settings", systemImage: "slider.horizontal.3") { showsSettings = true }
          .help("Instructions and sampling of this chat")
          .disabled(window.transcript == nil)
      }
    }
    #if !canImport(AppKit)  // the Mac has a window and a menu for them
    .toolbar {
      ToolbarItem(placement: .primaryAction) {
        Button("Settings", systemImage: "gearshape") { showsAppSettings = true }
      }
    }
    .sheet(isPresented: $showsAppSettings) { AppSettingsView(app: app) }
    #endif
    .sheet(isPresented: $showsLibrary) { LibraryView(app: app) }
    .sheet(isPresented: $showsWelcome) { WelcomeView(welcome: welcome) }
    .sheet(isPresented: $showsSettings) {
      if let transcript = window.transcript { ChatSettingsView(app: app, transcript: transcript) }
    }
    .focusedSceneValue(\.chatWindow, window)
    .onAppear { app.windowOpened(window) }
    .onDisappear { app.windowClosed(window) }
    .task {
      if window.selection == nil { app.newChat(in: window) }
      await app.start()
      showsWelcome = welcome.isNeeded
      await app.run()
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
    .accessibilityLabel(localized("Error: \(failure.title). \(failure.cause)"))
  }
}
