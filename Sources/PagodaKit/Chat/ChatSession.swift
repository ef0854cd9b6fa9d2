// ChatSession: one conversation on an engine.
internal import Foundation
public import Observation

/// One conversation on an engine. Several sessions may share an engine and run concurrently; one session
/// answers one message at a time.
///
/// It is observable, property by property: views and `withObservationTracking` follow ``history``,
/// ``responseInProgress`` and ``isResponding``, which change on the engine's thread during an answer. A token changes
/// only ``responseInProgress``.
///
/// ```swift
/// let session = ChatSession(try await Engine.load(.mini), instructions: "Answer briefly.")
/// print(try await session.respond(to: "What is the capital of France?"))
/// ```
public final class ChatSession: Observable, @unchecked Sendable {
  /// The engine that answers.
  public let engine: any LanguageEngine

  private let registrar = ObservationRegistrar()
  private let lock = NSLock()
  private var state: State  // guarded by `lock`

  /// A conversation with optional instructions (the system prompt) and tools, which the session runs itself.
  public init(
    _ engine: any LanguageEngine, instructions: String? = nil, tools: [Tool] = [],
    sampling: SamplingParameters = SamplingParameters(), thinking: Bool? = nil
  ) {
    self.engine = engine
    state = State(instructions: instructions, sampling: sampling, thinking: thinking, tools: tools)
  }

  /// Continues a saved conversation.
  public init(_ engine: any LanguageEngine, transcript: Transcript, tools: [Tool] = []) {
    self.engine = engine
    state = State(
      instructions: transcript.instructions, sampling: transcript.sampling, thinking: transcript.thinking, tools: tools,
      history: transcript.messages)
  }

  func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&state) }
  }

  /// Changes the state, then notifies the observers of these properties: outside the lock, because they may read the
  /// session, and after the change, because an observer on another thread could otherwise read the old state and miss
  /// the new one.
  func change<Result>(_ properties: Observed, _ body: (inout State) throws -> Result) rethrows -> Result {
    defer { notify(properties) }
    return try withState(body)
  }

  private func notify(_ changed: Observed) {
    func note(_ property: Observed, _ path: KeyPath<ChatSession, some Any>) {
      if changed.contains(property) { registrar.withMutation(of: self, keyPath: path) {} }
    }
    note(.instructions, \.instructions)
    note(.sampling, \.sampling)
    note(.thinking, \.thinking)
    note(.tools, \.tools)
    note(.toolFailures, \.toolFailures)
    note(.contextPolicy, \.contextPolicy)
    note(.lora, \.lora)
    note(.history, \.history)
    note(.lastCompletion, \.lastCompletion)
    note(.isResponding, \.isResponding)
    note(.responseInProgress, \.responseInProgress)
  }

  private func read<Result>(_ path: KeyPath<ChatSession, Result>, _ body: (State) -> Result) -> Result {
    registrar.access(self, keyPath: path)
    return withState { body($0) }
  }

  /// The system prompt.
  public var instructions: String? {
    get { read(\.instructions) { $0.instructions } }
    set { change(.instructions) { $0.instructions = newValue } }
  }

  /// How tokens are sampled.
  public var sampling: SamplingParameters {
    get { read(\.sampling) { $0.sampling } }
    set { change(.sampling) { $0.sampling = newValue } }
  }

  /// Whether the model thinks before it answers; nil leaves it to the chat template.
  public var thinking: Bool? {
    get { read(\.thinking) { $0.thinking } }
    set { change(.thinking) { $0.thinking = newValue } }
  }

  /// The functions that the model may call.
  public var tools: [Tool] {
    get { read(\.tools) { $0.tools } }
    set { change(.tools) { $0.tools = newValue } }
  }

  /// What happens when one of them fails; by default the model is told.
  public var toolFailures: ToolFailurePolicy {
    get { read(\.toolFailures) { $0.toolFailures } }
    set { change(.toolFailures) { $0.toolFailures = newValue } }
  }

  /// What happens when the conversation no longer fits the context. By default the oldest turns leave the prompt;
  /// ``history`` keeps them.
  public var contextPolicy: ContextPolicy {
    get { read(\.contextPolicy) { $0.contextPolicy } }
    set { change(.contextPolicy) { $0.contextPolicy = newValue } }
  }

  /// The LoRA adapter of the engine that answers use, by name; nil for the model alone.
  public var lora: String? {
    get { read(\.lora) { $0.lora } }
    set { change(.lora) { $0.lora = newValue } }
  }

  /// The conversation and its settings, for saving. An answer in flight is not included.
  public var transcript: Transcript {
    registrar.access(self, keyPath: \.instructions)
    registrar.access(self, keyPath: \.sampling)
    registrar.access(self, keyPath: \.thinking)
    registrar.access(self, keyPath: \.history)
    return withState {
      Transcript(instructions: $0.instructions, thinking: $0.thinking, sampling: $0.sampling, messages: $0.history)
    }
  }

  /// The conversation so far, without the instructions. Assign it to continue a stored conversation.
  public var history: [Message] {
    get { read(\.history) { $0.history } }
    set { change(.history) { $0.history = newValue } }
  }

  /// The finish reason and usage of the last answer; nil before the first answer and after a failure.
  public var lastCompletion: Completion? { read(\.lastCompletion) { $0.lastCompletion } }

  /// Whether an answer is being generated.
  public var isResponding: Bool { read(\.isResponding) { $0.turn != nil } }

  /// The text and reasoning of the current answer so far; nil between answers.
  public var responseInProgress: Message? {
    read(\.responseInProgress) { state in
      state.turn.map {
        Message(role: .assistant, content: $0.text, reasoning: $0.reasoning.isEmpty ? nil : $0.reasoning)
      }
    }
  }

  /// Stops the answer in progress, if there is one. Its reader gets `CancellationError`; the part generated so far, and
  /// the tool calls that ran, are kept in the history.
  public func stop() {
    if let id = withState({ $0.turn?.id }) { stop(id) }
  }

  /// Clears the conversation and keeps the instructions. An answer in progress is cancelled and not kept.
  public func reset() {
    let turn = change([.history, .lastCompletion, .isResponding, .responseInProgress]) { state in
      defer { state.turn = nil }
      state.history = []
      state.lastCompletion = nil
      return state.turn
    }
    turn?.abandon()
  }
}
