// AnswerPrinter: writes an answer as it arrives: progress of a long prompt, thinking dimmed and separate, Markdown.
import Foundation
import PagodaKit

struct AnswerPrinter {
  private(set) var omittedMessages: Int
  private var thinking = ThinkingText(to: STDOUT_FILENO)
  private var text = AnswerText()
  private var progress: ProgressLine?

  /// - Parameter omittedMessages: how many messages the last prompt left out; a change is worth a notice.
  init(omittedMessages: Int) { self.omittedMessages = omittedMessages }

  mutating func show(_ event: Event) {
    switch event {
    case .promptProgress(let read):
      // A line that disappears at once would only flicker.
      if progress == nil && read.estimatedSecondsLeft ?? 0 < 0.5 { return }
      progress = progress ?? ProgressLine("reading", unknown: true)
      progress?.say(progressText(read))
    case .contextTrimmed(let count):
      if count != omittedMessages && Terminal.outputIsTerminal {
        let notice = "The context is full: the oldest \(count) messages are no longer in the prompt."
        Terminal.write(Style.dim(fittingLine(notice)) + "\n")
      }
      omittedMessages = count
    case .reasoning(let text):
      endProgress()
      thinking.add(text)
    case .text(let chunk):
      endProgress()
      thinking.end()
      text.write(chunk)
    case .toolCall, .rejectedToolCall, .toolFailed, .token, .finished: endProgress()
    }
  }

  mutating func finish() {
    endProgress()
    thinking.end()
    text.finish()
  }

  private mutating func endProgress() {
    progress?.clear()
    progress = nil
  }
}

/// `reading 43 %, 12 s left`.
package func progressText(_ read: PromptProgress) -> String {
  let percent = "reading \(Int(read.fraction * 100)) %"
  guard let seconds = read.estimatedSecondsLeft else { return percent }
  return percent + ", \(duration(seconds)) left"
}

/// Whole seconds or minutes, rounded up, because an estimate of zero would be wrong.
package func duration(_ seconds: Double) -> String {
  let whole = Int(min(seconds, 1e9).rounded(.up))
  return whole < 120 ? "\(max(whole, 1)) s" : "\((whole + 59) / 60) min"
}
