// One message: collapsible thinking, Markdown, and actions.
import PagodaChatCore
import SwiftUI

struct MessageView: View {
  let message: ChatMessage
  let app: AppModel
  let window: ConversationListModel
  let transcript: TranscriptModel

  private var speaker: String { message.role == .user ? localized("You") : message.modelName ?? localized("Model") }

  var body: some View {
    VStack(alignment: .leading, spacing: 6) {
      Text(speaker).font(.caption).foregroundStyle(.secondary)
      if !message.reasoning.isEmpty {
        DisclosureGroup(thinkingTitle) {
          Text(message.reasoning).foregroundStyle(.secondary).textSelection(.enabled)
            .frame(maxWidth: .infinity, alignment: .leading)
        }
        .accessibilityHint("Shows what the model thought before it answered")
      }
      if let attachments = message.attachments {
        HStack(spacing: 6) { ForEach(attachments) { AttachmentView(attachment: $0) } }
      }
      if let rounds = message.toolRounds { ToolRoundsView(rounds: rounds) }
      if transcript.selectableID == message.id {
        SelectableMessageView(pieces: transcript.shownBlocks(of: message).selectablePieces)
      } else {
        MarkdownView(blocks: transcript.shownBlocks(of: message))
      }
      if message.state == .streaming && message.text.isEmpty && message.reasoning.isEmpty {
        ProgressView().controlSize(.small)
          .accessibilityLabel(
            transcript.isWaitingForModel
              ? localized("Waiting for the model to load") : localized("Waiting for the answer"))
        if let text = transcript.promptProgressText { Text(text).font(.caption).foregroundStyle(.secondary) }
      }
      if let note { Text(note).font(.caption).foregroundStyle(.secondary) }
      if message.id == transcript.messages.last?.id && transcript.canContinue {
        Button("Continue") { transcript.continueAnswer() }
      }
      actions
    }
    .frame(maxWidth: .infinity, alignment: .leading)
    .accessibilityElement(children: .contain)
    .accessibilityLabel(message.spokenLabel)
  }

  private var thinkingTitle: String {
    message.text.isEmpty && message.state == .streaming ? localized("Thinking…") : localized("Thinking")
  }

  private var note: String? {
    switch message.state {
    case .complete, .streaming: message.id == transcript.messages.last?.id ? transcript.omissionText : nil
    case .stopped: localized("Stopped")
    case .cutOff: localized("Cut off at the token limit")
    case .failed(let reason): localized("Failed: \(reason)")
    }
  }

  @ViewBuilder private var speechButton: some View {
    if app.speech.messageID == message.id {
      Button("Stop Reading", systemImage: "speaker.slash") { app.speech.stop() }
    } else {
      Button("Read Aloud", systemImage: "speaker.wave.2") { app.speech.toggle(message) }
    }
  }

  private var actions: some View {
    HStack(spacing: 12) {
      if let alternative = transcript.alternative(of: message.id) {
        Button("Previous version", systemImage: "chevron.left") {
          transcript.showAlternative(of: message.id, offset: -1)
        }
        .disabled(alternative.number == 1)
        Text(localized("\(alternative.number) of \(alternative.count)")).font(.caption).monospacedDigit()
        Button("Next version", systemImage: "chevron.right") { transcript.showAlternative(of: message.id, offset: 1) }
          .disabled(alternative.number == alternative.count)
      }
      Button("Copy", systemImage: "doc.on.doc") { copyToPasteboard(message.text) }
      Button("Select Text", systemImage: "character.cursor.ibeam") { transcript.toggleSelectable(message.id) }
        .help("Shows the message as one text, to select across its paragraphs")
      if app.speech.isAvailable { speechButton }
      ShareLink("Share", item: message.text)
      if message.role == .user {
        Button("Edit", systemImage: "pencil") { transcript.composer.edit(message) }
      } else {
        Button("Regenerate", systemImage: "arrow.clockwise") { transcript.regenerate(message.id) }
      }
      if let summary = message.stats?.summary, message.state != .streaming {
        Image(systemName: "info.circle").help(summary).accessibilityLabel(summary)
      }
      Button("Branch into a new chat", systemImage: "arrow.triangle.branch") { app.branch(at: message.id, in: window) }
    }
    .labelStyle(.iconOnly)
    .buttonStyle(.borderless)
    .disabled(transcript.isAnswering)
  }
}
