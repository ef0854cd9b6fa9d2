// The status bar: model, speed, context, cache, and the local server's switch.
import Foundation
import PagodaChatCore
import SwiftUI

struct StatusBar: View {
  let app: AppModel
  let window: ConversationListModel

  private var stats: TokenStats? { window.transcript?.stats }

  var body: some View {
    HStack(spacing: 14) {
      modelState
      if let text = app.library.downloadText { Text(text).foregroundStyle(.secondary) }
      Spacer()
      if let stats, stats.completionTokens > 0 {
        if let rate = stats.tokensPerSecond {
          item(localized("\(rate.formatted(.number.precision(.fractionLength(1)))) tok/s"), "Speed")
        }
        if stats.secondsToFirstToken > 0 {
          item(
            localized("first token \(stats.secondsToFirstToken.formatted(.number.precision(.fractionLength(2)))) s"),
            "Time to first token")
        }
        if let engine = app.engines.engine {
          item(localized("\(stats.contextTokens) of \(engine.contextLength) tokens"), "Context")
        }
        if stats.cachedTokens > 0 {
          item(localized("\(stats.cachedTokens) cached"), "Prompt tokens that needed no computation")
        }
      }
      if app.engines.load.blocks > 0 {
        item(localized("KV \(app.engines.load.usedBlocks)/\(app.engines.load.blocks)"), "KV blocks in use")
      }
      serverSwitch
    }
    .font(.caption)
    .padding(.horizontal, 12)
    .padding(.vertical, 6)
  }

  @ViewBuilder private var modelState: some View {
    switch app.engines.state {
    case .unloaded: Text("No model loaded").foregroundStyle(.secondary)
    case .loading(let name, let fraction):
      ProgressView(value: fraction).frame(width: 80).accessibilityLabel(localized("Loading \(name)"))
      Text(localized("Loading \(name)"))
    case .ready(let name):
      Label(name, systemImage: "checkmark.circle")
      if let device = app.engines.device { item(device, "Device") }
      if let bytes = app.engines.memoryBytes {
        item(bytes.formatted(.byteCount(style: .memory)), "Memory of the model")
        Button("Eject", systemImage: "eject") { Task { await app.unload() } }
          .labelStyle(.iconOnly).buttonStyle(.borderless).help("Unload the model and free its memory")
      }
    case .failed(let failure): Label(failure.errorDescription ?? failure.title, systemImage: "exclamationmark.triangle")
    }
  }

  private var serverSwitch: some View {
    HStack(spacing: 6) {
      Toggle("Server", isOn: serves).toggleStyle(.switch).controlSize(.mini)
        .help("Serves the loaded model to programs on this Mac")
      if let url = app.server.url {
        Button(url) { copyToPasteboard(url) }.buttonStyle(.borderless).help("Copy the address")
      } else if let failure = app.server.failure {
        Text(failure.cause).foregroundStyle(.orange)
      }
    }
  }

  private var serves: Binding<Bool> {
    Binding(
      get: { app.server.isOn },
      set: { isOn in
        if isOn {
          let settings = app.settings.settings
          app.server.turnOn(
            port: settings.serverPort, onNetwork: settings.serverOnNetwork, key: settings.serverKey)
        } else {
          Task { await app.server.turnOff() }
        }
      })
  }

  private func item(_ text: String, _ label: InterfaceText) -> some View {
    let label = localized(label)
    return Text(text).monospacedDigit().foregroundStyle(.secondary).help(label).accessibilityLabel("\(label): \(text)")
  }
}
