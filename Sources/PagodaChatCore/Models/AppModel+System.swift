// What the system asks of the app: to use less memory, and to stop when it leaves the screen.
import Foundation

extension AppModel {
  /// The system is short of memory: chats that no window shows go first, then a model that has answered no one for a while,
  /// and if programs are about to be ended any model that answers no one. It is loaded again for the next message.
  public func relieve(_ pressure: MemoryPressure, now: ContinuousClock.Instant = .now) async {
    let shown = conversations.pool.shownIDs + [quickPanel.transcript?.id].compactMap { $0 }
    conversations.pool.dropCaches(keeping: Set(shown))
    engines.refresh()
    guard engines.engine != nil, !isInUse else { return }
    if pressure == .critical || now - idleSince >= Self.idleUnderPressure { await engines.unload() }
  }

  static let idleUnderPressure = Duration.seconds(60)

  /// The app is no longer on the screen. Where the GPU refuses work there, as on iOS, answers stop and keep their text, and
  /// ``enteredForeground()`` continues them; elsewhere they go on.
  public func enteredBackground(stopsAnswers: Bool) {
    if stopsAnswers { speech.stop() }
    if stopsAnswers { conversations.pool.pauseAnswers() }
    flush()
  }

  /// The app is on the screen again: answers that it stopped go on.
  public func enteredForeground() { conversations.pool.resumeAnswers() }

  /// Whether the model answers, is waited for, or is served to other programs.
  var isInUse: Bool { engines.load.running > 0 || server.isOn || conversations.pool.isAnswering }
}

extension AppModel {
  /// What failed outside a chat, for a window to show: chats or settings that cannot be saved would be lost without a word.
  public func failure(in window: ConversationListModel) -> ChatFailure? {
    window.failure ?? conversations.failure ?? settings.failure
  }

  /// The user has read it; the next one is shown, if there is another.
  public func dismissFailure(in window: ConversationListModel) {
    if window.failure != nil {
      window.failure = nil
    } else if conversations.failure != nil {
      conversations.failure = nil
    } else {
      settings.failure = nil
    }
  }
}

extension TranscriptPool {
  /// The conversations that windows show.
  var shownIDs: [UUID] { lists.compactMap { $0.list?.selection } }

  /// Closes conversations that are neither shown nor answered nor have unsent text; they are read again when shown.
  func dropCaches(keeping shown: Set<UUID>) {
    for (id, transcript) in open where !shown.contains(id) && !transcript.isAnswering {
      transcript.flush()
      if transcript.composer.draftText.isEmpty && transcript.composer.attachments.isEmpty { open[id] = nil }
    }
  }

  /// Stops every answer, and remembers which.
  func pauseAnswers() {
    for (id, transcript) in open where transcript.isAnswering {
      paused.insert(id)
      transcript.stop()
    }
  }

  /// Continues the answers that ``pauseAnswers()`` stopped, unless another was begun meanwhile.
  func resumeAnswers() {
    let ids = paused
    paused = []
    for id in ids { open[id]?.resumeStopped() }
  }
}
