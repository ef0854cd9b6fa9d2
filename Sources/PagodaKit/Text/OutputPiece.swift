// OutputPiece: what the text of an answer is made of.

/// A part of an answer, as ``OutputParser`` takes it apart.
@frozen
public enum OutputPiece: Hashable, Sendable {
  /// More of the answer.
  case text(String)
  /// More of what the model thinks before it answers.
  case reasoning(String)
  /// A tool is being called; its arguments follow. Calls count from 0.
  case toolCallBegin(index: Int, name: String)
  /// More of the JSON object of a call's arguments.
  case toolArguments(index: Int, fragment: String)
  /// The arguments of a call are whole and valid JSON.
  case toolCallEnd(index: Int)
  /// Markup of a call that became none.
  case rejectedToolCall(RejectedToolCall)
}

/// Markup of a tool call that became none.
public struct RejectedToolCall: Hashable, Sendable {
  /// The model's text.
  public var markup: String
  /// Why it is no call, in one sentence.
  public var reason: String
  /// The name it gave, if it gave one.
  public var name: String?
  /// The call that had begun and is void now, if one had.
  public var index: Int?

  /// Markup that became no call.
  public init(markup: String, reason: String, name: String? = nil, index: Int? = nil) {
    self.markup = markup
    self.reason = reason
    self.name = name
    self.index = index
  }
}
