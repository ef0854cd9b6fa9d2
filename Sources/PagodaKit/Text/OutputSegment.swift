// OutputSegment: the parts that OutputParser splits an answer into.

/// A segment of an answer, as returned by ``OutputParser``.
public enum OutputSegment: Hashable, Sendable {
  /// More of the answer.
  case text(String)
  /// More of the model's reasoning before the answer.
  case reasoning(String)
  /// The start of a tool call; its arguments follow. Calls are numbered from 0.
  case toolCallBegin(index: Int, name: String)
  /// More of the JSON object of a call's arguments.
  case toolArguments(index: Int, fragment: String)
  /// The end of a call, whose arguments are complete and valid JSON.
  case toolCallEnd(index: Int)
  /// Markup of a call that is not valid.
  case rejectedToolCall(RejectedToolCall)
}

/// The former name of ``OutputSegment``.
@available(*, deprecated, renamed: "OutputSegment")
public typealias OutputPiece = OutputSegment

/// Markup of a tool call that is not valid.
public struct RejectedToolCall: Hashable, Sendable {
  /// The model's text.
  public var markup: String
  /// The reason it is not a call, in one sentence.
  public var reason: String
  /// The tool's name, if the markup has one.
  public var name: String?
  /// The index of the call that had begun and is now void, if any.
  public var index: Int?

  /// Creates a rejected call from its markup.
  public init(markup: String, reason: String, name: String? = nil, index: Int? = nil) {
    self.markup = markup
    self.reason = reason
    self.name = name
    self.index = index
  }
}
