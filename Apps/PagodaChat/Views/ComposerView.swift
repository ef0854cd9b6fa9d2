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
  @State private var asksForPage = false
  @State private var address = ""

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
          .help("Attach texts, PDF files or images; they may also be dropped here, and images pasted")
        Button("Attach Web Page…", systemImage: "link") { asksForPage = true }
          .labelStyle(.iconOnly).buttonStyle(.borderless)
          .help("Attach the text of a web page")
        Button(KeyboardMap.pasteImage.title, systemImage: "photo.badge.plus") {
          if let image = pastedImage() { composer.paste(image) }
        }
        .labelStyle(.iconOnly).buttonStyle(.borderless)
        .keyboardShortcut(KeyboardMap.pasteImage)
        .help("Attach the image on the clipboard")
        field
          .focused($isFocused)
          .accessibilityLabel("Message")
        Toggle("Think", isOn: $transcript.thinks).toggleStyle(.button)
          .disabled(!transcript.canThink)
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
    .alert("Attach Web Page", isPresented: $asksForPage) {
      TextField("Address", text: $address)
      Button("Attach") { Task { await composer.attachPage(address) } }
      Button("Cancel", role: .cancel) {}
    }
    .fileImporter(isPresented: $choosesFiles, allowedContentTypes: [.text, .data], allowsMultipleSelection: true) {
      if case .success(let urls) = $0 { composer.attach(urls) }
    }
  }

  /// A text field submits on Return, and cannot tell where its cursor is; an editor inserts a line break there.
  @ViewBuilder private var field: some View {
    if app.settings.settings.returnSends {
      TextField("Message", text: $composer.text, axis: .vertical)
        .textFieldStyle(.plain)
        .lineLimit(1...10)
        .onSubmit { composer.send(in: transcript) }  // Option-Return inserts a line break
    } else {
      TextEditor(text: $composer.text)
        .scrollContentBackground(.hidden)
        .frame(minHeight: 20, maxHeight: 180)
        .fixedSize(horizontal: false, vertical: true)
    }
  }
}

/// A file attached to a message.
struct AttachmentView: View {
  let attachment: Attachment
  var detach: ((UUID) -> Void)?
  @State private var thumbnail: Image?

  var body: some View {
    HStack(spacing: 4) {
      if let thumbnail, let size = attachment.thumbnailSize {
        thumbnail.resizable().scaledToFill()
          .frame(width: size.width, height: size.height)
          .clipShape(RoundedRectangle(cornerRadius: 4))
          .help(attachment.name)
          .accessibilityLabel(attachment.spokenLabel)
      } else {
        Label(attachment.name, systemImage: attachment.image == nil ? "doc.text" : "photo").font(.caption)
          .accessibilityLabel(attachment.spokenLabel)
      }
      if let detach {
        Button(localized("Remove \(attachment.name)"), systemImage: "xmark.circle") { detach(attachment.id) }
          .labelStyle(.iconOnly).buttonStyle(.borderless)
      }
    }
    .padding(4)
    .background(Color.secondary.opacity(0.12), in: RoundedRectangle(cornerRadius: 6))
    .task { thumbnail = attachment.image.flatMap { shownImage($0.data) } }
  }
}
