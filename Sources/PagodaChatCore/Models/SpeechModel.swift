// SpeechModel: reads messages aloud, a sentence at a time.
import Foundation
import Observation

/// Speaks texts.
@MainActor
public protocol Speaker: AnyObject {
  /// Says a text; returns when it is said, or after ``stop()``.
  func say(_ text: String) async
  /// Falls silent at once.
  func stop()
}

/// Reads messages aloud; one at a time, however many windows there are.
@MainActor @Observable
public final class SpeechModel {
  /// The message that is being read; nil in silence.
  public private(set) var messageID: UUID?

  private let speaker: (any Speaker)?
  private var reading: Task<Void, Never>?

  /// Without a speaker nothing can be read.
  public init(speaker: (any Speaker)?) { self.speaker = speaker }

  /// Whether messages can be read aloud.
  public var isAvailable: Bool { speaker != nil }

  /// Reads a message from its beginning; a message that is being read falls silent.
  public func toggle(_ message: ChatMessage) {
    let isSame = messageID == message.id
    stop()
    guard let speaker, !isSame else { return }
    let sentences = MarkdownBlocks(message.text).spokenSentences
    guard !sentences.isEmpty else { return }
    messageID = message.id
    reading = Task {
      for sentence in sentences {
        if Task.isCancelled { return }
        await speaker.say(sentence)
      }
      if !Task.isCancelled { messageID = nil }
    }
  }

  /// Falls silent.
  public func stop() {
    guard messageID != nil else { return }
    messageID = nil
    reading?.cancel()
    reading = nil
    speaker?.stop()
  }
}
