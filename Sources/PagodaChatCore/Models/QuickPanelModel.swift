// QuickPanelModel: a small panel over other programs, opened by a key from anywhere: a question, its answer, and the way to the chat.
import Foundation
import Observation

/// The panel for a quick question.
@MainActor @Observable
public final class QuickPanelModel {
  /// Whether it is on the screen.
  public private(set) var isShown = false
  /// The text being written.
  public var text = ""
  /// The chat of the last question; nil before the first.
  public private(set) var transcript: TranscriptModel?

  private unowned let app: AppModel

  init(app: AppModel) { self.app = app }

  /// Shows or hides it. A chat that was answered before begins anew when it is shown again; one in progress stays.
  public func toggle() {
    isShown.toggle()
    if isShown, transcript?.isAnswering != true { transcript = nil }
  }

  /// Hides it. An answer in progress goes on, in its chat.
  public func hide() { isShown = false }

  /// Whether there is a question to send and no answer in progress.
  public var canSend: Bool {
    transcript?.isAnswering != true && text.contains { !$0.isWhitespace }
  }

  /// Sends the question: the first begins a chat, which the sidebar shows too, and further ones continue it.
  public func send() {
    guard canSend else { return }
    // A deleted chat does not come back.
    if let old = transcript, app.conversations.pool.openTranscript(old.id) !== old { transcript = nil }
    if transcript == nil { transcript = app.conversations.addChat(settings: app.settings.settings.newChats) }
    guard let transcript else { return }
    transcript.send(text.trimmingCharacters(in: .whitespacesAndNewlines))
    text = ""
    app.conversations.refresh()
  }

  /// The last answer; nil before it begins.
  public var answer: ChatMessage? { transcript?.messages.last.flatMap { $0.role == .assistant ? $0 : nil } }

  /// Shows the chat in the app's window, and hides the panel. False if there is none yet.
  @discardableResult
  public func openInWindow() -> Bool {
    guard let conversation = transcript?.conversation else { return false }
    app.conversations.show(conversation)
    (isShown, transcript) = (false, nil)
    return true
  }
}
