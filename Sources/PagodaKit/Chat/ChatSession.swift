// ChatSession: one conversation on an engine.
internal import Foundation
public import Observation

/// One conversation on an engine. Several sessions may share an engine and run concurrently; one session
/// answers one message at a time.
///
/// It is observable: views and `withObservationTracking` follow ``history``, ``responseInProgress`` and
/// ``isResponding``, which change on the engine's thread during an answer.
///
/// ```swift
/// let session = ChatSession(try await Engine.load(.mini), instructions: "Answer briefly.")
/// print(try await session.respond(to: "What is the capital of France?"))
/// ```
public final class ChatSession: Observable, @unchecked Sendable {
  /// The engine that answers.
  public let engine: Engine

  struct State {
    var instructions: String?
    var sampling: SamplingParameters
    var thinking: Bool?
    var tools: [Tool] = []
    var contextPolicy = ContextPolicy.trim
    var history: [Message] = []
    var lastCompletion: Completion?
    var turn: Turn?
    var turnCount = 0
  }

  /// A message and the part of its answer generated so far.
  struct Turn {
    let id: Int
    /// The question, and the completed rounds of tool calls and results.
    var messages: [Message]
    /// How many of them belong to the question.
    let given: Int
    let options: ResponseOptions
    var grammar: Request.Grammar?
    var text = ""
    var reasoning = ""
    var calls: [ToolCall] = []
    var cancel: (@Sendable () -> Void)?
  }

  private let registrar = ObservationRegistrar()
  private let lock = NSLock()
  private var state: State  // guarded by `lock`

  /// A conversation with optional instructions (the system prompt) and tools, which the session runs itself.
  public init(
    _ engine: Engine, instructions: String? = nil, tools: [Tool] = [],
    sampling: SamplingParameters = SamplingParameters(), thinking: Bool? = nil
  ) {
    self.engine = engine
    state = State(instructions: instructions, sampling: sampling, thinking: thinking, tools: tools)
  }

  /// Continues a saved conversation.
  public init(_ engine: Engine, transcript: Transcript, tools: [Tool] = []) {
    self.engine = engine
    state = State(
      instructions: transcript.instructions, sampling: transcript.sampling, thinking: transcript.thinking, tools: tools,
      history: transcript.messages)
  }

  func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&state) }
  }

  /// Changes the state, then notifies observers: outside the lock, because they may read the session, and after the
  /// change, because an observer on another thread could otherwise read the old state and miss the new one.
  func change<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    defer { registrar.withMutation(of: self, keyPath: \.observed) {} }
    return try withState(body)
  }

  /// The property that all observers depend on: one key path for the whole state, which changes as a unit.
  private var observed: Void { () }

  private func read<Result>(_ body: (State) -> Result) -> Result {
    registrar.access(self, keyPath: \.observed)
    return withState { body($0) }
  }

  /// The system prompt.
  public var instructions: String? {
    get { read { $0.instructions } }
    set { change { $0.instructions = newValue } }
  }

  /// How tokens are sampled.
  public var sampling: SamplingParameters {
    get { read { $0.sampling } }
    set { change { $0.sampling = newValue } }
  }

  /// Whether the model thinks before it answers; nil leaves it to the chat template.
  public var thinking: Bool? {
    get { read { $0.thinking } }
    set { change { $0.thinking = newValue } }
  }

  /// The functions that the model may call.
  public var tools: [Tool] {
    get { read { $0.tools } }
    set { change { $0.tools = newValue } }
  }

  /// What happens when the conversation no longer fits the context. By default the oldest turns leave the prompt;
  /// ``history`` keeps them.
  public var contextPolicy: ContextPolicy {
    get { read { $0.contextPolicy } }
    set { change { $0.contextPolicy = newValue } }
  }

  /// The conversation and its settings, for saving. An answer in flight is not included.
  public var transcript: Transcript {
    read {
      Transcript(instructions: $0.instructions, thinking: $0.thinking, sampling: $0.sampling, messages: $0.history)
    }
  }

  /// The conversation so far, without the instructions. Assign it to continue a stored conversation.
  public var history: [Message] {
    get { read { $0.history } }
    set { change { $0.history = newValue } }
  }

  /// The finish reason and usage of the last answer; nil before the first answer and after a failure.
  public var lastCompletion: Completion? { read { $0.lastCompletion } }

  /// Whether an answer is being generated.
  public var isResponding: Bool { read { $0.turn != nil } }

  /// The text and reasoning of the current answer so far; nil between answers.
  public var responseInProgress: Message? {
    read { state in
      state.turn.map {
        Message(role: .assistant, content: $0.text, reasoning: $0.reasoning.isEmpty ? nil : $0.reasoning)
      }
    }
  }

  /// Clears the conversation and keeps the instructions. An answer in flight continues but is not kept.
  public func reset() {
    change {
      $0.history = []
      $0.lastCompletion = nil
      $0.turn = nil
    }
  }
}

extension ChatSession.State {
  /// Maximum rounds of tool calls in one turn; after that, the model's calls are not answered.
  static var maximumRounds: Int { 16 }

  func request(for messages: [Message]) -> Request {
    let system = instructions.map { [Message.system($0)] } ?? []
    var request = Request(messages: system + history + messages, sampling: sampling, thinking: thinking)
    request.tools = tools.map(\.definition)
    request.contextPolicy = contextPolicy
    return request
  }

  private func request(for messages: [Message], _ options: ResponseOptions) -> Request {
    var request = request(for: messages)
    if let sampling = options.sampling { request.sampling = sampling }
    if let count = options.maximumTokens { request.sampling.maximumTokens = count }
    if let thinking = options.thinking { request.thinking = thinking }
    if !options.usesTools { request.tools = [] }
    request.priority = options.priority
    request.promptProgressInterval = options.promptProgressInterval
    return request
  }

  func requestOfTurn() -> Request? {
    guard let turn else { return nil }
    var request = request(for: turn.messages, turn.options)
    request.grammar = turn.grammar
    return request
  }

  func hasCallsToRun(in id: Int) -> Bool {
    guard let turn, turn.id == id, !turn.calls.isEmpty else { return false }
    return turn.messages.dropFirst(turn.given).count { $0.role == .assistant } < Self.maximumRounds
  }

  func callsToRun() -> ([ToolCall], [String: Tool]) {
    (turn?.calls ?? [], Dictionary(tools.map { ($0.definition.name, $0) }) { $1 })
  }

  /// Adds the calls and their results to the turn's prompt.
  mutating func endRound(_ results: [Message]) {
    guard let old = turn else { return }
    let reasoning = old.reasoning.isEmpty ? nil : old.reasoning
    let calling = Message(role: .assistant, content: old.text, reasoning: reasoning, toolCalls: old.calls)
    turn = ChatSession.Turn(
      id: old.id, messages: old.messages + [calling] + results, given: old.given, options: old.options,
      grammar: old.grammar)
  }
}
