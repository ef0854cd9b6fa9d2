// PromptProgress: how much of a prompt has been read, and how long the rest will take.
internal import CxxCore

/// How much of a long prompt the model has read.
public struct PromptProgress: Hashable, Sendable {
  /// Prompt tokens read so far, including cached ones.
  public var completedTokens: Int
  /// Tokens of the whole prompt.
  public var totalTokens: Int
  /// Prompt tokens that did not have to be computed.
  public var cachedTokens: Int
  /// Time since the prompt's first step.
  public var elapsedSeconds: Double

  /// The progress of a prompt.
  public init(completedTokens: Int, totalTokens: Int, cachedTokens: Int = 0, elapsedSeconds: Double) {
    self.completedTokens = completedTokens
    self.totalTokens = totalTokens
    self.cachedTokens = cachedTokens
    self.elapsedSeconds = elapsedSeconds
  }

  /// The part of the prompt that has been read, from 0 to 1.
  public var fraction: Double {
    totalTokens > 0 ? min(1, Double(completedTokens) / Double(totalTokens)) : 1
  }

  /// The time for the rest at the speed so far; nil before the first computed token.
  public var estimatedSecondsLeft: Double? {
    let computed = completedTokens - cachedTokens
    guard computed > 0, elapsedSeconds > 0 else { return nil }
    return Double(max(0, totalTokens - completedTokens)) * elapsedSeconds / Double(computed)
  }
}

extension PromptProgress {
  init(_ event: borrowing pagoda.Event) {
    completedTokens = Int(event.num_read_tokens)
    totalTokens = Int(event.usage.prompt_tokens)
    cachedTokens = Int(event.usage.cached_tokens)
    elapsedSeconds = event.timings.prompt_ms / 1000
  }
}
