// ContextPolicy: what happens to a conversation that no longer fits the model's context.
internal import CxxCore

/// What happens when a conversation and its answer no longer fit the model's context.
///
/// ```swift
/// session.contextPolicy = .stop  // throws PagodaError.contextOverflow instead of forgetting old turns
/// ```
public enum ContextPolicy: String, Hashable, Sendable, CaseIterable, Codable {
  /// The oldest turns are left out of the prompt: whole turns, in steps of a quarter of the context, so that the
  /// following prompts start alike and the prefix cache keeps hitting. The system prompt, the tools and the last turn
  /// stay. ``Event/contextTrimmed(omittedMessages:)`` reports it.
  case trim
  /// The request is refused with ``PagodaError/contextOverflow(_:)``.
  case stop
}

/// A conversation that fits the context, and how many of its messages were left out.
package struct TrimmedPrompt: Sendable {
  package var encoded: EncodedPrompt
  package var omittedMessages = 0
}

extension Engine {
  /// Tokens of the context that a trimmed prompt leaves to the answer.
  private func answerReserve(_ maximumTokens: Int?) -> Int {
    min(maximumTokens ?? 2048, info.plan.maximumModelLength / 4)
  }

  /// Encodes a conversation, without its oldest turns if prompt and answer would not fit otherwise.
  package func encodeTrimmed(_ chat: ChatPrompt, maximumTokens: Int?) throws -> TrimmedPrompt {
    let whole = try encode(chat)
    let context = info.plan.maximumModelLength
    let excess = whole.ids.count - (context - answerReserve(maximumTokens))
    guard excess > 0 else { return TrimmedPrompt(encoded: whole) }
    let (head, turns) = chat.turnStarts
    var last: (turn: Int, encoded: EncodedPrompt)?
    func without(_ turn: Int) throws -> EncodedPrompt {
      if let last, last.turn == turn { return last.encoded }
      var shorter = chat
      shorter.messages.removeSubrange(head..<turns[turn])
      let encoded = turn == 0 ? whole : try encode(shorter)
      last = (turn, encoded)
      return encoded
    }
    let first = try firstTurnKept(
      excess: excess, step: max(context / 4, 1), turnCount: turns.count,
      omittedTokens: { whole.ids.count - (try without($0).ids.count) })
    guard first > 0 else { return TrimmedPrompt(encoded: whole) }
    return TrimmedPrompt(encoded: try without(first), omittedMessages: turns[first] - head)
  }
}

extension ChatPrompt {
  /// The number of leading system messages, and the index of the first message of each turn.
  fileprivate var turnStarts: (head: Int, turns: [Int]) {
    let roles = messages.map { $0["role"]?.stringValue ?? "" }
    let head = roles.prefix { $0 == "system" || $0 == "developer" }.count
    let users = roles.indices.filter { $0 > head && roles[$0] == "user" }
    return (head, (head < roles.count ? [head] : []) + users)
  }
}

/// The first turn that stays in a prompt with `excess` tokens too many: at least that many tokens are omitted, rounded up
/// to a multiple of `step`. While a conversation grows by less than a step, the result is the same, so consecutive
/// prompts share their prefix; no earlier cut has to be remembered. The last turn always stays.
/// - Parameter omittedTokens: tokens of all turns before the given one; grows with it.
package func firstTurnKept(
  excess: Int, step: Int, turnCount: Int, omittedTokens: (Int) throws -> Int
) rethrows -> Int {
  guard excess > 0, turnCount > 1 else { return 0 }
  let wanted = (excess + step - 1) / step * step
  var (low, high) = (1, turnCount - 1)
  while low < high {
    let middle = (low + high) / 2
    if try omittedTokens(middle) >= wanted { high = middle } else { low = middle + 1 }
  }
  return low
}
