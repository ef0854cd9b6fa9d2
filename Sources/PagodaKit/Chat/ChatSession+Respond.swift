// Answers of a chat session: whole, as chunks of text, as events, or as a value; each turn is added to the history when
// it ends.
internal import Foundation

extension ChatSession {
  /// Answers one or more messages and adds them and the answer to the history.
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
  ) -> AsyncThrowingStream<String, any Error> {
    stream(input, options) { if case .text(let text) = $0 { text } else { nil } }
  }

  /// Answers as events: reasoning, text, tool calls, tokens, and the completion.
  ///
  /// The session runs its own tools: their calls are events, their results are sent to the model, and the answer
  /// continues. If the stream is dropped, the answer stops and the part generated so far is kept.
  public func streamEvents(
    to input: some ChatInput, options: ResponseOptions = ResponseOptions()
  ) -> AsyncThrowingStream<Event, any Error> {
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
  ) -> AsyncThrowingStream<Element, any Error> {
    AsyncThrowingStream { continuation in
      do {
        let id = try begin(input.messages, options, grammar)
        continuation.onTermination = { reason in
          guard case .cancelled = reason else { return }
          self.withState { $0.turn?.id == id ? $0.turn?.cancel : nil }?()
          self.close(id, with: nil)
        }
        let round = Round(
          id: id, deliver: { event in if let element = pick(event) { continuation.yield(element) } },
          finish: { continuation.finish(throwing: $0) })
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

  private func begin(_ messages: [Message], _ options: ResponseOptions, _ grammar: Request.Grammar?) throws -> Int {
    if messages.isEmpty { throw PagodaError.invalidArgument("there is no message to answer") }
    return try change { state in
      if state.turn != nil { throw PagodaError.invalidArgument("the session is still answering the last message") }
      state.turnCount += 1
      state.turn = Turn(
        id: state.turnCount, messages: messages, given: messages.count, options: options, grammar: grammar)
      return state.turnCount
    }
  }

  private func run(_ round: Round) {
    do {
      guard let request = withState({ $0.turn?.id == round.id ? $0.requestOfTurn() : nil }) else {
        return round.finish(nil)  // it was reset or cancelled in the meantime
      }
      let cancel = try engine.start(request) { event in
        if self.note(event, in: round.id) { round.deliver(event) }
      } end: { error in
        if error != nil { self.drop(round.id) }
        if error != nil || !self.runTools(after: round) { round.finish(error) }
      }
      let isCurrent = withState { state in
        guard state.turn?.id == round.id else { return false }
        state.turn?.cancel = cancel
        return true
      }
      if !isCurrent { cancel() }  // the stream was dropped between two rounds; no effect on a complete answer
    } catch {
      drop(round.id)
      round.finish(error)
    }
  }

  /// Runs on the engine's thread. A turn that is no longer current was reset or cancelled. Returns false at the end of
  /// an answer that tool results will continue.
  private func note(_ event: Event, in id: Int) -> Bool {
    switch event {
    case .text(let chunk): change { if $0.turn?.id == id { $0.turn?.text += chunk } }
    case .reasoning(let chunk): change { if $0.turn?.id == id { $0.turn?.reasoning += chunk } }
    case .toolCall(let call): withState { if $0.turn?.id == id { $0.turn?.calls.append(call) } }
    case .token, .rejectedToolCall, .promptProgress, .contextTrimmed: break
    case .finished(let completion):
      if completion.finishReason == .stop && withState({ $0.hasCallsToRun(in: id) }) { return false }
      close(id, with: completion)
    }
    return true
  }

  /// Starts running the tools that the model called, if any; the next round follows.
  private func runTools(after round: Round) -> Bool {
    guard let (calls, tools) = withState({ $0.hasCallsToRun(in: round.id) ? $0.callsToRun() : nil }) else {
      return false
    }
    let task = Task {
      var results: [Message] = []
      for call in calls {
        let result: String
        do {
          guard let tool = tools[call.name] else { throw PagodaError.notFound("there is no tool '\(call.name)'") }
          result = try await tool.body(call)
        } catch {
          result = "error: \((error as? PagodaError)?.message ?? error.localizedDescription)"
        }
        results.append(.tool(result, callID: call.id))
      }
      change { if $0.turn?.id == round.id { $0.endRound(results) } }
      run(round)
    }
    withState { if $0.turn?.id == round.id { $0.turn?.cancel = { task.cancel() } } }
    return true
  }

  /// Moves a turn into the history. A turn that was stopped before its answer began is not kept.
  private func close(_ id: Int, with completion: Completion?) {
    change { state in
      guard let turn = state.turn, turn.id == id else { return }
      state.turn = nil
      state.lastCompletion = completion
      if completion == nil && turn.text.isEmpty && turn.messages.count == turn.given { return }
      state.history += turn.messages
      if completion == nil && turn.text.isEmpty { return }
      let reasoning = turn.reasoning.isEmpty ? nil : turn.reasoning
      let calls = completion == nil ? [] : turn.calls
      state.history.append(Message(role: .assistant, content: turn.text, reasoning: reasoning, toolCalls: calls))
    }
  }

  private func drop(_ id: Int) {
    change { state in
      guard state.turn?.id == id else { return }
      state.turn = nil
      state.lastCompletion = nil
    }
  }
}
