// The composer: a growing text field, attached files, send or stop, and the thinking switch.
import PagodaChatCore
import SwiftUI
import UniformTypeIdentifiers

struct ComposerView: View {
  let app: AppModel
  @Bindable var transcript: TranscriptModel
  @Bindable var composer: ComposerModel
  @FocusState private var isFocused: Bool
  @State private var choosesFiles = false

  var body: some View {
    VStack(alignment: .leading, spacing: 6) {
      if composer.editedID != nil {
        HStack {
          Label("Editing a message", systemImage: "pencil").font(.caption)
          Button("Cancel") { composer.cancelEditing() }.buttonStyle(.borderless)
        }
      }
      if !composer.attachments.isEmpty {
        ScrollView(.horizontal) {
          HStack(spacing: 6) {
            ForEach(composer.attachments) { AttachmentView(attachment: $0, detach: composer.detach) }
          }
        }
      }
      if let failure = composer.failure { FailureView(failure: failure) }
      HStack(alignment: .bottom, spacing: 8) {
        Button(KeyboardMap.attach.title, systemImage: "paperclip") { choosesFiles = true }
          .labelStyle(.iconOnly).buttonStyle(.borderless)
          .keyboardShortcut(KeyboardMap.attach)
          .help("Attach text files; they may also be dropped here")
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
            .keyboardShortcut(KeyboardMap.stopWriting)
        } else {
          Button("Send", systemImage: "arrow.up") { composer.send(in: transcript) }
            .keyboardShortcut(KeyboardMap.send)
            .disabled(!composer.canSend(in: transcript))
        }
      }
    }
    .padding(12)
    .onAppear { isFocused = true }
    .fileImporter(isPresented: $choosesFiles, allowedContentTypes: [.text, .data], allowsMultipleSelection: true) {
      if case .success(let urls) = $0 { composer.attach(urls) }
    }
  }

  private var thinks: Binding<Bool> {
    Binding(
      get: { transcript.settings.thinking ?? false }, set: { transcript.settings.thinking = $0 })
  }
}

/// A file attached to a message.
struct AttachmentView: View {
  let attachment: Attachment
  var detach: ((UUID) -> Void)?

  var body: some View {
    HStack(spacing: 4) {
      Label(attachment.name, systemImage: "doc.text").font(.caption)
      if let detach {
        Button("Remove \(attachment.name)", systemImage: "xmark.circle") { detach(attachment.id) }
          .labelStyle(.iconOnly).buttonStyle(.borderless)
      }
    }
    .padding(4)
    .background(Color.secondary.opacity(0.12), in: RoundedRectangle(cornerRadius: 6))
  }
}
