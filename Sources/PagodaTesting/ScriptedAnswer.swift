// ScriptedAnswer: what a ScriptedEngine says in reply to one request.
public import PagodaKit

/// What a ``ScriptedEngine`` says in reply to one request.
///
/// ```swift
/// let answers: [ScriptedAnswer] = ["Hello!", .toolCall("get_weather", arguments: #"{"city":"Lima"}"#), .failure(error)]
/// ```
public struct ScriptedAnswer: Sendable, ExpressibleByStringLiteral {
  /// The events before the end.
  public var events: [Event]
  /// How the answer ends; nil for one that ends only when its reader cancels it.
  public var end: Result<FinishReason, any Error>?

  /// An answer made of events.
  public init(events: [Event], end: Result<FinishReason, any Error>? = .success(.stop)) {
    self.events = events
    self.end = end
  }

  /// A text.
  public init(stringLiteral text: String) { self = .text(text) }

  /// A text, in a chunk for each word, with reasoning before it if given.
  public static func text(
    _ text: String, reasoning: String? = nil, finishReason: FinishReason = .stop
  ) -> ScriptedAnswer {
    var events: [Event] = []
    if let reasoning { events.append(.reasoning(reasoning)) }
    for chunk in text.split(separator: " ", omittingEmptySubsequences: false) {
      events.append(.text(events.contains(where: \.isText) ? " " + chunk : String(chunk)))
    }
    return ScriptedAnswer(events: events, end: .success(finishReason))
  }

  /// A call of a tool, with its arguments as a JSON object.
  public static func toolCall(_ name: String, arguments: String = "{}", id: String = "call_1") -> ScriptedAnswer {
    ScriptedAnswer(events: [.toolCall(ToolCall(id: id, name: name, arguments: arguments))])
  }

  /// A failure, after a text if given.
  public static func failure(_ error: any Error, after text: String = "") -> ScriptedAnswer {
    ScriptedAnswer(events: text.isEmpty ? [] : [.text(text)], end: .failure(error))
  }

  /// An answer that begins with a text and ends only when its reader cancels it.
  public static func endless(_ text: String = "") -> ScriptedAnswer {
    ScriptedAnswer(events: text.isEmpty ? [] : [.text(text)], end: nil)
  }
}

extension Event {
  fileprivate var isText: Bool { if case .text = self { true } else { false } }
}
