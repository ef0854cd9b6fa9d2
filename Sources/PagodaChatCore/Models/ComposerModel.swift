// ComposerModel: what is being written, and whether it can be sent.
import Foundation
import Observation

/// What is being written in one conversation.
@MainActor @Observable
public final class ComposerModel {
  /// The text so far.
  public var text = ""
  /// The message that is being edited; nil for a new one.
  public private(set) var editedID: UUID?
  private var draft = ""  // what was being written before editing began

  /// Nothing written.
  public init() {}

  /// Whether there is something to send and nobody is answering.
  public func canSend(in transcript: TranscriptModel) -> Bool { !transcript.isAnswering && !trimmed.isEmpty }

  /// Sends the text, or the edited message, and empties the field.
  public func send(in transcript: TranscriptModel) {
    guard canSend(in: transcript) else { return }
    if let editedID { transcript.edit(editedID, to: trimmed) } else { transcript.send(trimmed) }
    text = editedID == nil ? "" : draft
    editedID = nil
    draft = ""
  }

  /// Begins to edit a message of the person.
  public func edit(_ message: ChatMessage) {
    if editedID == nil { draft = text }
    editedID = message.id
    text = message.text
  }

  /// Goes back to what was being written before.
  public func cancelEditing() {
    guard editedID != nil else { return }
    editedID = nil
    text = draft
    draft = ""
  }

  private var trimmed: String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
}
