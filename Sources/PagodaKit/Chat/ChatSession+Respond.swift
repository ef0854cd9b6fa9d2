// Answers of a chat session: whole, as chunks of text, as events, or as a value; each turn is added to the history when
// it ends.
internal import Foundation

extension ChatSession {
  /// Answers one or more messages and adds them and the answer to the history. Throws `CancellationError` if the task
  /// is cancelled or the answer is stopped.
  /// - Parameters:
  ///   - input: a text, a ``Message`` or an array of them.
  ///   - options: options for this answer only.
  public func respond(
    to input: some ChatInput, options: ResponseOptions = ResponseOptions()
  ) async throws -> Response {
    var collector = ResponseCollector()
    for try await event in streamEvents(to: input, options: options) { collector.take(event) }
    return try collector.response()
  }

  /// Answers in chunks, without the reasoning.
  public func streamResponse(
    to input: some ChatInput, options: ResponseOptions = ResponseOptions()
  ) -> AnswerStream<String> {
    stream(input, options) { if case .text(let text) = $0 { text } else { nil } }
  }

  /// Answers as events: reasoning, text, tool calls, tokens, and the completion.
  ///
  /// The session runs its own tools: their calls are events, their results are sent to the model, and the answer
  /// continues. If the stream is dropped, or the loop left, the answer stops and the part generated so far is kept.
  public func streamEvents(
    to input: some ChatInput, options: ResponseOptions = ResponseOptions()
  ) -> AnswerStream<Event> {
    stream(input, options) { $0 }
  }

  /// The number of tokens of the conversation, followed by `input` if given, as the model would read it. Compare it
  /// with `engine.info.plan.maximumModelLength`.
  public func tokenCount(adding input: (some ChatInput)? = String?.none) throws -> Int {
    try engine.tokenCount(of: withState { $0.request(for: input?.messages ?? []) })
  }

  /// Lets the engine process the instructions and tools in advance, so that the first answer starts sooner.
  public func prewarm() async throws {
    var request = withState { $0.request(for: [.user("")]) }
    request.sampling.maximumTokens = 1
    _ = try await engine.respond(to: request)
  }

  func stream<Element: Sendable>(
    _ input: some ChatInput, _ options: ResponseOptions, grammar: Request.Grammar? = nil,
    _ pick: @escaping @Sendable (Event) -> Element?
  ) -> AnswerStream<Element> {
    AnswerStream { continuation in
      do {
        let round = Round(
          id: try begin(input.messages, options, grammar) { continuation.finish(throwing: $0) },
          deliver: { event in if let element = pick(event) { continuation.yield(element) } },
          finish: { continuation.finish(throwing: $0) })
        continuation.onCancel { self.stop(round.id) }
        run(round)
      } catch {
        continuation.finish(throwing: error)
      }
    }
  }

  /// One answer of the engine within a turn; tool results start another one.
  private struct Round: Sendable {
    var id: Int
    var deliver: @Sendable (Event) -> Void
    var finish: @Sendable ((any Error)?) -> Void
  }

  private func begin(
    _ messages: [Message], _ options: ResponseOptions, _ grammar: Request.Grammar?,
    finish: @escaping @Sendable ((any Error)?) -> Void
  ) throws -> Int {
    if messages.isEmpty { throw PagodaError.invalidArgument("there is no message to answer") }
    return try change([.isResponding, .responseInProgress]) { state in
      if state.turn != nil { throw PagodaError.invalidArgument("the session is still answering the last message") }
      state.turnCount += 1
      state.turn = Turn(
        id: state.turnCount, messages: messages, given: messages.count, options: options, grammar: grammar,
        finish: finish)
      return state.turnCount
    }
  }

  private func run(_ round: Round) {
    do {
      guard let request = withState({ $0.turn?.id == round.id ? $0.requestOfTurn() : nil }) else { return }
      let cancel = try engine.begin(request) { event in
        if self.note(event, in: round.id) { round.deliver(event) }
      } end: { error in
        guard let error else {
          if !self.runTools(after: round) { round.finish(nil) }
          return
        }
        // The engine's error may come before that of the call that stopped the turn.
        round.finish(self.close(round.id, .failed) == nil ? CancellationError() : error)
      }
      onStop(of: round.id, cancel)
    } catch {
      close(round.id, .failed)
      round.finish(error)
    }
  }

  /// Sets what stops the current work of a turn; stops it now if the turn has ended in the meantime, which has no effect
  /// on work that is complete.
  private func onStop(of id: Int, _ cancel: @escaping @Sendable () -> Void) {
    let isCurrent = withState { state in
      guard state.turn?.id == id else { return false }
      state.turn?.cancel = cancel
      return true
    }
    if !isCurrent { cancel() }
  }

  /// Runs on the engine's thread. A turn that is no longer current was reset or stopped. Returns false at the end of an
  /// answer that tool results will continue.
  private func note(_ event: Event, in id: Int) -> Bool {
    switch event {
    case .text(let chunk): change(.responseInProgress) { if $0.turn?.id == id { $0.turn?.text += chunk } }
    case .reasoning(let chunk): change(.responseInProgress) { if $0.turn?.id == id { $0.turn?.reasoning += chunk } }
    case .toolCall(let call): withState { if $0.turn?.id == id { $0.turn?.calls.append(call) } }
    case .finished(let completion):
      if completion.finishReason == .stop && withState({ $0.hasCallsToRun(in: id) }) { return false }
      close(id, .complete(completion))
    default: break
    }
    return true
  }

  /// Starts running the tools that the model called, if any; the next round follows.
  private func runTools(after round: Round) -> Bool {
    guard let (calls, tools) = withState({ $0.hasCallsToRun(in: round.id) ? $0.callsToRun() : nil }) else {
      return false
    }
    let task = Task {
      do {
        for call in calls {
          withState { if $0.turn?.id == round.id { $0.turn?.numBegun += 1 } }
          let result = try await self.result(of: call, tools[call.name], in: round)
          withState { if $0.turn?.id == round.id { $0.turn?.results.append(result) } }
        }
        change(.responseInProgress) { if $0.turn?.id == round.id { $0.endRound() } }
        run(round)
      } catch {
        close(round.id, .failed)
        round.finish(error)
      }
    }
    onStop(of: round.id) { task.cancel() }
    return true
  }

  /// The message that answers a call; throws if the policy says so, or if the turn has been stopped.
  private func result(of call: ToolCall, _ tool: Tool?, in round: Round) async throws -> Message {
    var numRetries = 0
    while true {
      try Task.checkCancellation()
      do {
        guard let tool else { throw PagodaError.notFound("there is no tool '\(call.name)'") }
        return .tool(try await tool.body(call), callID: call.id)
      } catch {
        try Task.checkCancellation()
        let failure = ToolFailure(call: call, error: error)
        round.deliver(.toolFailed(failure))
        switch withState({ $0.toolFailures }) {
        case .throwError: throw error
        case .retry(let count) where numRetries < count: numRetries += 1
        default: return .tool("error: \(failure.message)", callID: call.id)
        }
      }
    }
  }

  func stop(_ id: Int) { close(id, .stopped)?.abandon() }

  /// Ends a turn and moves what is kept of it into the history. Returns the turn; nil if it was not the current one.
  @discardableResult
  private func close(_ id: Int, _ end: End) -> Turn? {
    guard withState({ $0.turn?.id == id }) else { return nil }
    return change(.end) { state in
      guard let turn = state.turn, turn.id == id else { return nil }
      state.turn = nil
      state.lastCompletion = if case .complete(let completion) = end { completion } else { nil }
      state.history += turn.kept(after: end)
      return turn
    }
  }
}
