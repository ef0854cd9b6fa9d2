// The panel over other programs, and the key that opens it from anywhere.
#if canImport(AppKit)
import AppKit
import Carbon
import Observation
import PagodaChatCore
import SwiftUI

/// A key of the whole system. Carbon's is the only interface for one that needs no permission to watch all keys.
@MainActor
final class QuickPanel {
  static let shared = QuickPanel()

  private var app: AppModel?
  private var panel: NSPanel?
  private var hotKey: EventHotKeyRef?
  private var hasHandler = false

  /// Has the key while the settings say so, and shows the panel while its model says so.
  func follow(_ app: AppModel) {
    self.app = app
    let (hasKey, isShown) = withObservationTracking {
      (app.settings.settings.hasQuickPanel, app.quickPanel.isShown)
    } onChange: {
      Task { @MainActor in QuickPanel.shared.follow(app) }
    }
    setHotKey(hasKey)
    if isShown != (panel?.isVisible ?? false) { show(isShown) }
  }

  private func setHotKey(_ isOn: Bool) {
    if isOn, hotKey == nil {
      addHandler()
      let id = EventHotKeyID(signature: 0x5047_4441, id: 1)  // PGDA
      RegisterEventHotKey(UInt32(kVK_Space), UInt32(optionKey), id, GetApplicationEventTarget(), 0, &hotKey)
    } else if !isOn, let old = hotKey {
      UnregisterEventHotKey(old)
      hotKey = nil
    }
  }

  private func addHandler() {
    guard !hasHandler else { return }
    hasHandler = true
    var kind = EventTypeSpec(eventClass: OSType(kEventClassKeyboard), eventKind: UInt32(kEventHotKeyPressed))
    let pressed: EventHandlerUPP = { _, _, _ in
      MainActor.assumeIsolated { QuickPanel.shared.app?.quickPanel.toggle() }  // events arrive on the main thread
      return OSStatus(noErr)
    }
    InstallEventHandler(GetApplicationEventTarget(), pressed, 1, &kind, nil, nil)
  }

  private func show(_ isShown: Bool) {
    guard isShown, let app else {
      panel?.orderOut(nil)
      return
    }
    let shown = panel ?? makePanel(app)
    panel = shown
    shown.center()
    shown.makeKeyAndOrderFront(nil)
  }

  private func makePanel(_ app: AppModel) -> NSPanel {
    let panel = NSPanel(
      contentRect: NSRect(x: 0, y: 0, width: 560, height: 320),
      styleMask: [.titled, .fullSizeContentView, .nonactivatingPanel], backing: .buffered, defer: false)
    panel.level = .floating
    panel.collectionBehavior = [.canJoinAllSpaces, .fullScreenAuxiliary]
    panel.titleVisibility = .hidden
    panel.titlebarAppearsTransparent = true
    panel.isMovableByWindowBackground = true
    panel.hidesOnDeactivate = false
    panel.isReleasedWhenClosed = false
    panel.contentView = NSHostingView(rootView: QuickPanelView(app: app, panel: app.quickPanel))
    return panel
  }
}

private struct QuickPanelView: View {
  let app: AppModel
  @Bindable var panel: QuickPanelModel
  @FocusState private var isFocused: Bool

  var body: some View {
    VStack(alignment: .leading, spacing: 12) {
      HStack {
        TextField("Quick question", text: $panel.text).textFieldStyle(.plain).font(.title3)
          .focused($isFocused)
          .onSubmit { panel.send() }
        Button("Close", systemImage: "xmark.circle") { panel.hide() }
          .labelStyle(.iconOnly).buttonStyle(.borderless)
          .keyboardShortcut(.cancelAction)
      }
      if let failure = panel.transcript?.failure { FailureView(failure: failure) }
      ScrollView {
        if let transcript = panel.transcript, let answer = panel.answer {
          MarkdownView(blocks: transcript.shownBlocks(of: answer)).frame(maxWidth: .infinity, alignment: .leading)
        }
      }
      HStack {
        if panel.transcript?.isAnswering == true { ProgressView().controlSize(.small).accessibilityLabel("Answering") }
        Spacer()
        Button("Open in Window") {
          if panel.openInWindow() { NSApplication.shared.activate(ignoringOtherApps: true) }
        }
        .disabled(panel.transcript == nil)
      }
    }
    .padding()
    .onAppear { isFocused = true }
  }
}
#endif
