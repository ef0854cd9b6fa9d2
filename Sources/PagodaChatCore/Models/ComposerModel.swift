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
  /// Files attached to the message.
  public private(set) var attachments: [Attachment] = []
  /// Why a file could not be attached.
  public var failure: ChatFailure?
  private var draft = ""  // the text before editing started
  private var draftAttachments: [Attachment] = []

  /// An empty composer.
  public init() {}

  /// Whether there is text or an image to send and no answer in progress.
  public func canSend(in transcript: TranscriptModel) -> Bool {
    !transcript.isAnswering && (!trimmed.isEmpty || attachments.contains { $0.image != nil })
  }

  /// Attaches a pasted image. False, with a failure, if it cannot be read.
  @discardableResult
  public func paste(_ image: Data) -> Bool {
    failure = nil
    let number = attachments.count { $0.image != nil } + 1
    do {
      attachments.append(try Attachment(name: localized("Image \(number)"), image: image))
    } catch {
      failure = error as? ChatFailure
    }
    return failure == nil
  }

  /// Attaches dropped or chosen files; the first that is neither text nor an image is reported, the others are
  /// attached. True if any was.
  @discardableResult
  public func attach(_ urls: [URL]) -> Bool {
    let before = attachments.count
    failure = nil
    for url in urls {
      do {
        attachments.append(try Attachment(contentsOf: url))
      } catch {
        failure = failure ?? error as? ChatFailure ?? ChatFailure("\(url.lastPathComponent) cannot be attached", error)
      }
    }
    return attachments.count > before
  }

  func add(_ attachment: Attachment) { attachments.append(attachment) }

  /// Removes an attached file.
  public func detach(_ id: UUID) { attachments.removeAll { $0.id == id } }

  /// Sends the text or the edited message, and clears the field.
  public func send(in transcript: TranscriptModel) {
    guard canSend(in: transcript) else { return }
    if let editedID {
      transcript.edit(editedID, to: trimmed, attachments: attachments)
    } else {
      transcript.send(trimmed, attachments: attachments)
    }
    text = editedID == nil ? "" : draft
    attachments = editedID == nil ? [] : draftAttachments
    forgetEditing()
  }

  /// Starts editing one of the user's messages.
  public func edit(_ message: ChatMessage) {
    if editedID == nil { (draft, draftAttachments) = (text, attachments) }
    editedID = message.id
    text = message.text
    attachments = message.attachments ?? []
  }

  /// Unsent text that would be lost: the text, or the one saved while editing.
  var draftText: String { editedID == nil ? text : draft }

  /// Restores the text from before editing.
  public func cancelEditing() {
    guard editedID != nil else { return }
    text = draft
    attachments = draftAttachments
    forgetEditing()
  }

  private func forgetEditing() {
    editedID = nil
    draft = ""
    draftAttachments = []
    failure = nil
  }

  private var trimmed: String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
}
