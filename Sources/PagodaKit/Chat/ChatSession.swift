// ChatSession: one conversation on an engine.
internal import Foundation

/// One conversation on an engine. Several sessions may share an engine and answer at the same time; one session
/// answers one message at a time.
///
/// ```swift
/// let session = ChatSession(try await Engine.load(.mini), instructions: "Answer briefly.")
/// print(try await session.respond(to: "What is the capital of France?"))
/// ```
public final class ChatSession: @unchecked Sendable {
  /// The engine that answers.
  public let engine: Engine

  struct State {
    var instructions: String?
    var sampling: SamplingParameters
    var thinking: Bool?
    var tools: [Tool] = []
    var history: [Message] = []
    var lastCompletion: Completion?
    var turn: Turn?
    var turnCount = 0
  }

  /// A message and as much of its answer as has come.
  struct Turn {
    let id: Int
    /// The question, and the rounds of tool calls and results that are over.
    var messages: [Message]
    var grammar: Request.Grammar?
    var text = ""
    var reasoning = ""
    var calls: [ToolCall] = []
    var cancel: (@Sendable () -> Void)?
  }

  private let lock = NSLock()
  private var state: State  // guarded by `lock`

  /// A conversation with optional instructions (the system prompt) and tools, which the session runs by itself.
  public init(
    _ engine: Engine, instructions: String? = nil, tools: [Tool] = [],
    sampling: SamplingParameters = SamplingParameters(), thinking: Bool? = nil
  ) {
    self.engine = engine
    state = State(instructions: instructions, sampling: sampling, thinking: thinking, tools: tools)
  }

  /// Goes on with a conversation that was saved.
  public init(_ engine: Engine, transcript: Transcript, tools: [Tool] = []) {
    self.engine = engine
    state = State(
      instructions: transcript.instructions, sampling: transcript.sampling, thinking: transcript.thinking, tools: tools,
      history: transcript.messages)
  }

  func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&state) }
  }

  /// The system prompt.
  public var instructions: String? {
    get { withState { $0.instructions } }
    set { withState { $0.instructions = newValue } }
  }

  /// How answers pick their tokens.
  public var sampling: SamplingParameters {
    get { withState { $0.sampling } }
    set { withState { $0.sampling = newValue } }
  }

  /// Whether the model thinks before it answers; nil leaves it to the chat template.
  public var thinking: Bool? {
    get { withState { $0.thinking } }
    set { withState { $0.thinking = newValue } }
  }

  /// The functions that the model may call.
  public var tools: [Tool] {
    get { withState { $0.tools } }
    set { withState { $0.tools = newValue } }
  }

  /// The conversation and how it is answered, to be saved. An answer in flight is not in it.
  public var transcript: Transcript {
    withState {
      Transcript(instructions: $0.instructions, thinking: $0.thinking, sampling: $0.sampling, messages: $0.history)
    }
  }

  /// The conversation so far, without the instructions. Set it to go on from a stored one.
  public var history: [Message] {
    get { withState { $0.history } }
    set { withState { $0.history = newValue } }
  }

  /// How the last answer ended and what it took; nil before the first and after a failure.
  public var lastCompletion: Completion? { withState { $0.lastCompletion } }

  /// Whether an answer is being made.
  public var isResponding: Bool { withState { $0.turn != nil } }

  /// Forgets the conversation and keeps the instructions. An answer in flight continues but is not kept.
  public func reset() {
    withState {
      $0.history = []
      $0.lastCompletion = nil
      $0.turn = nil
    }
  }
}

extension ChatSession.State {
  /// Rounds of tool calls in one turn; a model that still calls after that is answered no more.
  static var maximumRounds: Int { 16 }

  func request(for messages: [Message]) -> Request {
    let system = instructions.map { [Message.system($0)] } ?? []
    var request = Request(messages: system + history + messages, sampling: sampling, thinking: thinking)
    request.tools = tools.map(\.definition)
    return request
  }

  func requestOfTurn() -> Request? {
    guard let turn else { return nil }
    var request = request(for: turn.messages)
    request.grammar = turn.grammar
    return request
  }

  func hasCallsToRun(in id: Int) -> Bool {
    guard let turn, turn.id == id, !turn.calls.isEmpty else { return false }
    return turn.messages.count { $0.role == .assistant } < Self.maximumRounds
  }

  func callsToRun() -> ([ToolCall], [String: Tool]) {
    (turn?.calls ?? [], Dictionary(tools.map { ($0.definition.name, $0) }) { $1 })
  }

  /// The calls and their results become part of the turn's prompt.
  mutating func endRound(_ results: [Message]) {
    guard let old = turn else { return }
    let reasoning = old.reasoning.isEmpty ? nil : old.reasoning
    let calling = Message(role: .assistant, content: old.text, reasoning: reasoning, toolCalls: old.calls)
    turn = ChatSession.Turn(id: old.id, messages: old.messages + [calling] + results, grammar: old.grammar)
  }
}
