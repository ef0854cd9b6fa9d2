// ToolRound: the tool calls of an answer, as stored and as the model reads them again.
import PagodaKit

/// A call of a tool and its result.
public struct ToolRun: Codable, Hashable, Sendable, Identifiable {
  /// The call.
  public var call: ToolCall
  /// Its result, or why there is none.
  public var result: String
  /// The call's identity.
  public var id: String { call.id }
}

/// Calls that a model made at once, after a part of its answer.
public struct ToolRound: Codable, Hashable, Sendable {
  /// The length in characters of the answer's text before the calls, without that of earlier rounds.
  public var textLength: Int
  /// The calls.
  public var runs: [ToolRun]

  /// A round as messages: the answer so far with its calls, then their results.
  func messages(text: String) -> [Message] {
    [Message(role: .assistant, content: text, toolCalls: runs.map(\.call))]
      + runs.map { .tool($0.result, callID: $0.call.id) }
  }
}

extension ChatMessage {
  /// An answer with tools as messages: its rounds, then the rest of its text.
  var promptMessages: [Message] {
    var (messages, rest) = ([Message](), Substring(text))
    for round in toolRounds ?? [] {
      messages += round.messages(text: String(rest.prefix(round.textLength)))
      rest = rest.dropFirst(round.textLength)
    }
    guard !messages.isEmpty else { return [prompt] }
    return rest.isEmpty ? messages : messages + [Message(role: .assistant, content: String(rest))]
  }
}
