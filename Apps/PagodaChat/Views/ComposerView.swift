// The composer: a growing text field, send or stop, and the thinking switch.
import PagodaChatCore
import SwiftUI

struct ComposerView: View {
  let app: AppModel
  @Bindable var transcript: TranscriptModel
  @Bindable var composer: ComposerModel
  @FocusState private var isFocused: Bool

  var body: some View {
    VStack(alignment: .leading, spacing: 6) {
      if composer.editedID != nil {
        HStack {
          Label("Editing a message", systemImage: "pencil").font(.caption)
          Button("Cancel") { composer.cancelEditing() }.buttonStyle(.borderless)
        }
      }
      HStack(alignment: .bottom, spacing: 8) {
        TextField("Message", text: $composer.text, axis: .vertical)
          .textFieldStyle(.plain)
          .lineLimit(1...10)
          .focused($isFocused)
          .onSubmit {
            // The field sends Return here in either case; Option-Return always inserts a line break.
            if app.settings.settings.returnSends { composer.send(in: transcript) } else { composer.text += "\n" }
          }
          .accessibilityLabel("Message")
        Toggle("Think", isOn: thinks).toggleStyle(.button)
          .help("Whether the model thinks before it answers")
        if transcript.isAnswering {
          Button("Stop", systemImage: "stop.fill") { transcript.stop() }
            .keyboardShortcut(.escape, modifiers: [])
        } else {
          Button("Send", systemImage: "arrow.up") { composer.send(in: transcript) }
            .keyboardShortcut(.return, modifiers: .command)
            .disabled(!composer.canSend(in: transcript))
        }
      }
    }
    .padding(12)
    .onAppear { isFocused = true }
  }

  private var thinks: Binding<Bool> {
    Binding(
      get: { transcript.settings.thinking ?? false }, set: { transcript.settings.thinking = $0 })
  }
}
