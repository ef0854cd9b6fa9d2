// ResponseOptions and ChatInput: the options and the input of one answer of a session.

/// Options for one answer of a ``ChatSession``; nil means the session's own value.
///
/// ```swift
/// let options = ResponseOptions(maximumTokens: 100, grammar: .regex("[0-9]+"))
/// print(try await session.respond(to: "How old is the universe?", options: options))
/// ```
public struct ResponseOptions: Hashable, Sendable {
  /// How tokens are sampled.
  public var sampling: SamplingParameters?
  /// Maximum tokens of the answer; overrides `sampling`.
  public var maximumTokens: Int?
  /// Whether the model thinks before it answers.
  public var thinking: Bool?
  /// Whether the session's tools are offered.
  public var usesTools = true
  /// A constraint on the answer; not together with a type to generate, which is one.
  public var grammar: Request.Grammar?
  /// Whether the answer must call the session's tools. A required call is required once; the model answers after it.
  public var toolChoice = Request.ToolChoice.automatic
  /// Waiting requests with a lower priority value run first.
  public var priority = 0
  /// Minimum seconds between ``Event/promptProgress(_:)`` events; nil for none.
  public var promptProgressInterval: Double?
  /// The LoRA adapter that the answer uses, by name; nil means the session's.
  public var lora: String?
  /// Changes the logits of each token before it is sampled, or chooses the token; nil for none.
  public var logitProcessor: LogitProcessor?

  /// Options; those not given are taken from the session.
  public init(
    sampling: SamplingParameters? = nil, maximumTokens: Int? = nil, thinking: Bool? = nil, usesTools: Bool = true,
    grammar: Request.Grammar? = nil, toolChoice: Request.ToolChoice = .automatic, priority: Int = 0,
    promptProgressInterval: Double? = nil, logitProcessor: LogitProcessor? = nil
  ) {
    self.sampling = sampling
    self.maximumTokens = maximumTokens
    self.thinking = thinking
    self.usesTools = usesTools
    self.grammar = grammar
    self.toolChoice = toolChoice
    self.priority = priority
    self.promptProgressInterval = promptProgressInterval
    self.logitProcessor = logitProcessor
  }
}

/// Input that a session can answer: a string, a message, or several messages.
///
/// ```swift
/// try await session.respond(to: "Hello!")
/// try await session.respond(to: Message.user("Hello!"))
/// try await session.respond(to: [.user("2 + 2?"), .assistant("4"), .user("And twice that?")])
/// ```
public protocol ChatInput: Sendable {
  /// The messages to append to the conversation.
  var messages: [Message] { get }
}

extension String: ChatInput {
  /// A message of the user.
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

/// Collects events into a response.
struct ResponseCollector {
  private var text = ""
  private var reasoning = ""
  private var tokens: [TokenInfo] = []
  private var calls: [ToolCall] = []
  private var rejected: [RejectedToolCall] = []
  private var completion: Completion?

  mutating func take(_ event: Event) {
    switch event {
    case .text(let chunk): text += chunk
    case .reasoning(let chunk): reasoning += chunk
    case .toolCall(let call): calls.append(call)
    case .rejectedToolCall(let call): rejected.append(call)
    case .token(let token): tokens.append(token)
    case .promptProgress, .contextTrimmed: break
    case .finished(let end): completion = end
    case .toolFailed: break
    }
  }

  /// Throws `CancellationError` if the stream ended without `finished`.
  func response() throws -> Response {
    guard let completion else { throw CancellationError() }
    return Response(
      text: text, reasoning: reasoning, toolCalls: calls, rejectedToolCalls: rejected, tokens: tokens,
      completion: completion)
  }
}
