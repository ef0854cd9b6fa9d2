// PagodaChat: the app; connects PagodaChatCore's models to windows and menus and contains no logic of its own.
import Foundation
import Observation
import PagodaChatCore
import SwiftUI

@main
struct PagodaChatApp: App {
  #if canImport(AppKit)
  @NSApplicationDelegateAdaptor(AppDelegate.self) private var delegate
  #endif
  private let start = StartState.shared

  var body: some Scene {
    WindowGroup("Pagoda", id: AppWindow.windowID) {
      switch start.result {
      case .success(let app): AppWindow(app: app)
      case .failure(let failure): FailureView(failure: failure).padding().frame(minWidth: 320, minHeight: 160)
      case nil: ProgressView().accessibilityLabel("Opening your chats").frame(minWidth: 320, minHeight: 160)
      }
    }
    .defaultSize(width: 1080, height: 760)
    .commands { ChatCommands(app: start.app) }

    #if canImport(AppKit)
    Settings {
      if let app = start.app { AppSettingsView(app: app) }
    }

    Window("Keyboard Shortcuts", id: KeyboardMapView.windowID) { KeyboardMapView() }

    // The model and the server live as long as the app, not as long as a window.
    MenuBarExtra("Pagoda", systemImage: "building.columns", isInserted: .constant(start.app?.outlivesWindows == true)) {
      if let app = start.app { ServerMenu(app: app) }
    }
    #endif
  }
}

/// A window; changes are saved when the app leaves the screen.
struct AppWindow: View {
  static let windowID = "chat"
  let app: AppModel
  @Environment(\.scenePhase) private var phase

  var body: some View {
    ContentView(app: app).onChange(of: phase) {
      switch phase {
      case .background: app.enteredBackground(stopsAnswers: stopsAnswersInBackground)
      case .active: app.enteredForeground()
      default: app.flush()
      }
    }
  }
}

/// Opening the store takes a moment, and can fail (another copy of the app, a full disk); the window then shows the error.
@MainActor @Observable
final class StartState {
  /// One for the whole process: windows, menus and Siri share the same chats and the same model.
  static let shared = StartState()

  private(set) var result: Result<AppModel, ChatFailure>?
  private var opening: Task<Void, Never>?

  private init() {
    opening = Task {
      do {
        let given = ProcessInfo.processInfo.environment["PAGODA_CHAT_FOLDER"]  // UI tests have their own folder
        let folder = given.map { URL(filePath: $0) } ?? AppModel.defaultFolder
        let app = try await AppModel.open(folder: folder, speaker: SystemSpeaker())
        result = .success(app)
        #if canImport(AppKit)
        QuickPanel.shared.follow(app)
        #endif
      } catch {
        result = .failure(ChatFailure("Pagoda cannot open its chats", error))
      }
    }
  }

  var app: AppModel? { try? result?.get() }

  /// The app, as soon as it is open.
  func ready() async throws -> AppModel {
    await opening?.value
    guard let result else { throw CancellationError() }
    return try result.get()
  }
}
