// ResponseOptions and ChatInput: what is different for one answer of a session, and what it answers.

/// Options of one answer of a ``ChatSession``; nil takes the session's own.
public struct ResponseOptions: Hashable, Sendable {
  /// How tokens are picked.
  public var sampling: SamplingParameters?
  /// Most tokens of the answer; goes before `sampling`.
  public var maximumTokens: Int?
  /// Whether the model thinks before it answers.
  public var thinking: Bool?
  /// Whether the session's tools are offered.
  public var usesTools = true
  /// Of requests that wait, those with a lower priority run first.
  public var priority = 0

  /// Options; those not given are the session's.
  public init(
    sampling: SamplingParameters? = nil, maximumTokens: Int? = nil, thinking: Bool? = nil, usesTools: Bool = true,
    priority: Int = 0
  ) {
    self.sampling = sampling
    self.maximumTokens = maximumTokens
    self.thinking = thinking
    self.usesTools = usesTools
    self.priority = priority
  }
}

/// Input that a session can answer: a text, a message, or several messages.
public protocol ChatInput: Sendable {
  /// The messages to append to the conversation.
  var messages: [Message] { get }
}

extension String: ChatInput {
  /// A message of the person.
  public var messages: [Message] { [.user(self)] }
}

extension Message: ChatInput {
  /// The message alone.
  public var messages: [Message] { [self] }
}

extension [Message]: ChatInput {
  /// The messages themselves.
  public var messages: [Message] { self }
}

/// Puts events together to a response.
struct ResponseCollector {
  private var text = ""
  private var reasoning = ""
  private var tokens: [TokenInfo] = []
  private var calls: [ToolCall] = []
  private var rejected: [RejectedToolCall] = []
  private var completion: Completion?

  mutating func take(_ event: Event) {
    switch event {
    case .text(let piece): text += piece
    case .reasoning(let piece): reasoning += piece
    case .toolCall(let call): calls.append(call)
    case .rejectedToolCall(let call): rejected.append(call)
    case .token(let token): tokens.append(token)
    case .finished(let end): completion = end
    }
  }

  /// Throws `CancellationError` where the stream ended without `finished`, which only a cancelled task sees.
  func response() throws -> Response {
    guard let completion else { throw CancellationError() }
    return Response(
      text: text, reasoning: reasoning, toolCalls: calls, rejectedToolCalls: rejected, tokens: tokens,
      completion: completion)
  }
}
