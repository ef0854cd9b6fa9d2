// PagodaChat: the app; connects PagodaChatCore's models to windows and menus and contains no logic of its own.
import AppKit
import PagodaChatCore
import SwiftUI

@main
struct PagodaChatApp: App {
  @NSApplicationDelegateAdaptor(AppDelegate.self) private var delegate
  @State private var start = StartState()

  var body: some Scene {
    WindowGroup("Pagoda") {
      switch start.result {
      case .success(let app): ContentView(app: app).onAppear { delegate.app = app }
      case .failure(let failure): FailureView(failure: failure).padding().frame(minWidth: 420, minHeight: 160)
      }
    }
    .defaultSize(width: 1080, height: 760)
    .commands { ChatCommands(app: start.app) }

    Settings {
      if let app = start.app { AppSettingsView(app: app) }
    }

    // The model and the server live as long as the app, not as long as a window.
    MenuBarExtra("Pagoda", systemImage: "building.columns", isInserted: .constant(start.app?.server.isOn == true)) {
      if let app = start.app { ServerMenu(app: app) }
    }
  }
}

/// Opening the store can fail (another copy of the app, a full disk); the window then shows the error.
@MainActor
struct StartState {
  let result: Result<AppModel, ChatFailure>

  init() {
    do {
      let given = ProcessInfo.processInfo.environment["PAGODA_CHAT_FOLDER"]  // UI tests have a folder of their own
      result = .success(try AppModel(folder: given.map { URL(filePath: $0) } ?? AppModel.defaultFolder))
    } catch {
      result = .failure(ChatFailure("Pagoda cannot open its chats", error))
    }
  }

  var app: AppModel? { try? result.get() }
}

/// Started by `swift run`, the program has no bundle: without this it gets neither a Dock icon nor keyboard input.
@MainActor
final class AppDelegate: NSObject, NSApplicationDelegate {
  func applicationDidFinishLaunching(_ notification: Notification) {
    NSApplication.shared.setActivationPolicy(.regular)
    NSApplication.shared.activate(ignoringOtherApps: true)
  }

  weak var app: AppModel?

  /// With the server on, the app stays in the menu bar.
  func applicationShouldTerminateAfterLastWindowClosed(_ sender: NSApplication) -> Bool { app?.server.isOn != true }

  func applicationDidResignActive(_ notification: Notification) { app?.flush() }

  func applicationWillTerminate(_ notification: Notification) { app?.flush() }
}

/// What the menu bar offers while the server is on.
struct ServerMenu: View {
  let app: AppModel

  var body: some View {
    if let url = app.server.url { Button("Copy \(url)") { copyToPasteboard(url) } }
    Button("Stop the Server") { Task { await app.server.turnOff() } }
    Divider()
    Button("Quit Pagoda") { NSApplication.shared.terminate(nil) }
  }
}
