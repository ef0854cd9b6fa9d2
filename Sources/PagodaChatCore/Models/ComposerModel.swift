// ComposerModel: the text being written, and whether it can be sent.
import Foundation
import Observation

/// The text being written in one conversation.
@MainActor @Observable
public final class ComposerModel {
  /// The text so far.
  public var text = ""
  /// The message being edited; nil for a new one.
  public private(set) var editedID: UUID?
  private var draft = ""  // the text before editing started

  /// An empty composer.
  public init() {}

  /// Whether there is text to send and no answer in progress.
  public func canSend(in transcript: TranscriptModel) -> Bool { !transcript.isAnswering && !trimmed.isEmpty }

  /// Sends the text or the edited message, and clears the field.
  public func send(in transcript: TranscriptModel) {
    guard canSend(in: transcript) else { return }
    if let editedID { transcript.edit(editedID, to: trimmed) } else { transcript.send(trimmed) }
    text = editedID == nil ? "" : draft
    editedID = nil
    draft = ""
  }

  /// Starts editing one of the user's messages.
  public func edit(_ message: ChatMessage) {
    if editedID == nil { draft = text }
    editedID = message.id
    text = message.text
  }

  /// What would be lost without being sent: the text, or the one that editing put aside.
  var draftText: String { editedID == nil ? text : draft }

  /// Restores the text from before editing.
  public func cancelEditing() {
    guard editedID != nil else { return }
    editedID = nil
    text = draft
    draft = ""
  }

  private var trimmed: String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
}
