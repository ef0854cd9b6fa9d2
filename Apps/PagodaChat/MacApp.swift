// Mac-only parts: the Dock, the menu bar, and an app that outlives its windows.
#if canImport(AppKit)
import AppKit
import PagodaChatCore
import SwiftUI

/// Started by `swift run`, the program has no bundle: without this it gets neither a Dock icon nor keyboard input.
@MainActor
final class AppDelegate: NSObject, NSApplicationDelegate {
  private var app: AppModel? { StartState.shared.app }

  func applicationDidFinishLaunching(_ notification: Notification) {
    NSApplication.shared.setActivationPolicy(.regular)
    NSApplication.shared.activate(ignoringOtherApps: true)
  }

  /// While the server is on, the app stays in the menu bar.
  func applicationShouldTerminateAfterLastWindowClosed(_ sender: NSApplication) -> Bool { app?.outlivesWindows != true }

  func applicationDidResignActive(_ notification: Notification) { app?.flush() }

  func applicationWillTerminate(_ notification: Notification) { app?.close() }
}

/// The menu-bar menu while the server is on.
struct ServerMenu: View {
  let app: AppModel

  var body: some View {
    if let url = app.server.url { Button(localized("Copy \(url)")) { copyToPasteboard(url) } }
    Button("Stop the Server") { Task { await app.server.turnOff() } }
    Divider()
    Button("Quit Pagoda") { NSApplication.shared.terminate(nil) }
  }
}
#endif
