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
    var history: [Message] = []
    var lastCompletion: Completion?
    var turn: Turn?
    var turnCount = 0
  }

  /// A message and as much of its answer as has come.
  struct Turn {
    let id: Int
    let question: String
    var text = ""
    var reasoning = ""
  }

  private let lock = NSLock()
  private var state: State  // guarded by `lock`

  /// A conversation with optional instructions (the system prompt).
  public init(
    _ engine: Engine, instructions: String? = nil, sampling: SamplingParameters = SamplingParameters(),
    thinking: Bool? = nil
  ) {
    self.engine = engine
    state = State(instructions: instructions, sampling: sampling, thinking: thinking)
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

  /// The conversation so far, without the instructions. Set it to go on from a stored one.
  public var history: [Message] {
    get { withState { $0.history } }
    set { withState { $0.history = newValue } }
  }

  /// How the last answer ended and what it took; nil before the first and after a failure.
  public var lastCompletion: Completion? { withState { $0.lastCompletion } }

  /// Whether an answer is being made.
  public var isResponding: Bool { withState { $0.turn != nil } }

  /// Forgets the conversation and keeps the instructions. An answer under way goes on but is not remembered.
  public func reset() {
    withState {
      $0.history = []
      $0.lastCompletion = nil
      $0.turn = nil
    }
  }
}
