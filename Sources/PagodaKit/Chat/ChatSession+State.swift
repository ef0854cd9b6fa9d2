// The state of a session: its settings, its history, and the turn in progress.

extension ChatSession {
  struct State {
    var instructions: String?
    var sampling: SamplingParameters
    var thinking: Bool?
    var tools: [Tool] = []
    var toolFailures = ToolFailurePolicy.tellModel
    var contextPolicy = ContextPolicy.trim
    var lora: String?
    var history: [Message] = []
    var lastCompletion: Completion?
    var turn: Turn?
    var turnCount = 0
  }

  /// The properties that observers follow.
  struct Observed: OptionSet {
    let rawValue: UInt16
    static let instructions = Observed(rawValue: 1)
    static let sampling = Observed(rawValue: 2)
    static let thinking = Observed(rawValue: 4)
    static let tools = Observed(rawValue: 8)
    static let toolFailures = Observed(rawValue: 16)
    static let history = Observed(rawValue: 32)
    static let lastCompletion = Observed(rawValue: 64)
    static let isResponding = Observed(rawValue: 128)
    static let responseInProgress = Observed(rawValue: 256)
    static let contextPolicy = Observed(rawValue: 512)
    static let lora = Observed(rawValue: 1024)
    static let end: Observed = [.history, .lastCompletion, .isResponding, .responseInProgress]
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
    /// Ends the stream of the reader.
    let finish: @Sendable ((any Error)?) -> Void
    var text = ""
    var reasoning = ""
    var calls: [ToolCall] = []
    /// How many of the calls have begun, and the results of those that ended.
    var numBegun = 0
    var results: [Message] = []
    var cancel: (@Sendable () -> Void)?

    /// Stops the work and ends the stream; the turn is no longer the session's.
    func abandon() {
      cancel?()
      finish(CancellationError())
    }
  }

  /// How a turn ended.
  enum End {
    case complete(Completion)
    case stopped
    case failed
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
    request.lora = lora
    return request
  }

  func requestOfTurn() -> Request? {
    guard let turn else { return nil }
    let options = turn.options
    var request = request(for: turn.messages)
    if let sampling = options.sampling { request.sampling = sampling }
    if let count = options.maximumTokens { request.sampling.maximumTokens = count }
    if let thinking = options.thinking { request.thinking = thinking }
    if !options.usesTools { request.tools = [] }
    // A call is required once: the next round answers.
    if turn.messages.count == turn.given { request.toolChoice = options.toolChoice }
    request.priority = options.priority
    request.promptProgressInterval = options.promptProgressInterval
    request.grammar = turn.grammar ?? options.grammar
    request.logitProcessor = options.logitProcessor
    if let lora = options.lora { request.lora = lora }
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
  mutating func endRound() {
    guard var turn else { return }
    turn.messages += turn.roundWithCalls()
    (turn.text, turn.reasoning, turn.calls, turn.numBegun, turn.results) = ("", "", [], 0, [])
    self.turn = turn
  }
}

extension ChatSession.Turn {
  private func answer(_ calls: [ToolCall]) -> Message {
    Message(role: .assistant, content: text, reasoning: reasoning.isEmpty ? nil : reasoning, toolCalls: calls)
  }

  /// The calls of this round that began, and a result for each of them, as templates require.
  func roundWithCalls() -> [Message] {
    let begun = calls.prefix(numBegun)
    let missing = begun.dropFirst(results.count).map { Message.tool("error: the call was cancelled", callID: $0.id) }
    return [answer(Array(begun))] + results + missing
  }

  /// What the history keeps. Tool calls that ran are kept however the turn ended; text only of an answer that did not
  /// fail; nothing if there is neither.
  func kept(after end: ChatSession.End) -> [Message] {
    if case .complete = end { return messages + [answer(calls)] }
    if numBegun > 0 { return messages + roundWithCalls() }
    if case .stopped = end, !text.isEmpty { return messages + [answer([])] }
    return messages.count == given ? [] : messages
  }
}
