// The line under an answer of a chat, and why an answer was cut.
import Foundation
import PagodaKit

/// Tokens, speed, and the time to the first token.
/// - Parameters:
///   - context: the longest sequence in tokens.
///   - others: what other programs used of the processors meanwhile; nil if unknown.
package func speedParts(_ completion: Completion, context: Int, others: OtherUse? = nil) -> [String] {
  var parts = ["\(completion.usage.completionTokens) tokens"]
  if let speed = completion.tokensPerSecond { parts.append(String(format: "%.1f tokens/s", speed)) }
  let first = (completion.timings.queueMilliseconds + completion.timings.promptMilliseconds) / 1000
  parts.append(String(format: "first after %.2f s", first))
  if completion.usage.cachedTokens > 0 {
    parts.append("\(completion.usage.cachedTokens) of \(completion.usage.promptTokens) prompt tokens cached")
  }
  if completion.timings.draftedTokens > 0 {
    parts.append("\(completion.timings.acceptedTokens) of \(completion.timings.draftedTokens) drafts accepted")
  }
  if completion.finishReason == .length {
    parts.append(completion.fills(context) ? "cut at the end of the context" : "cut at the token limit")
  }
  if let note = others?.note(from: 0.25) { parts.append(note) }
  return parts
}

extension Completion {
  /// Whether prompt and answer have all of the context, which then ended the answer.
  func fills(_ context: Int) -> Bool { usage.promptTokens + usage.completionTokens >= context }
}
