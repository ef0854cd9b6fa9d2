// Answers of a chat session: whole, as text pieces, as events, or as a value; each turn enters the history when it ends.
internal import Foundation

extension ChatSession {
  /// Answers a message and remembers both.
  public func respond(to message: String) async throws -> String {
    var text = ""
    for try await piece in streamResponse(to: message) { text += piece }
    try Task.checkCancellation()
    return text
  }

  /// Answers a message with a value of a type of yours. The answer is held to `schema` token by token, after thinking.
  /// - Parameters:
  ///   - message: what to answer.
  ///   - type: what the answer becomes.
  ///   - schema: the JSON schema of `type`.
  public func respond<Value: Decodable & Sendable>(
    to message: String, generating type: Value.Type, schema: String
  ) async throws -> Value {
    var text = ""
    let stream = stream(message, grammar: .jsonSchema(schema)) { if case .text(let piece) = $0 { piece } else { nil } }
    for try await piece in stream { text += piece }
    try Task.checkCancellation()
    do {
      return try JSONDecoder().decode(type, from: Data(text.utf8))
    } catch {
      throw PagodaError.invalidArgument("the answer is not a \(type), though the schema allows it: \(text.prefix(200))")
    }
  }

  /// Answers a message piece by piece, without the reasoning.
  public func streamResponse(to message: String) -> AsyncThrowingStream<String, any Error> {
    stream(message) { if case .text(let text) = $0 { text } else { nil } }
  }

  /// Answers a message as events: reasoning, text, tool calls, tokens, and how it ended.
  ///
  /// Tools of the session are run by it: their calls are events, their results go to the model, and the answer goes on.
  /// When the reader goes away, the answer stops and the part that has come is remembered.
  public func streamEvents(to message: String) -> AsyncThrowingStream<Event, any Error> {
    stream(message) { $0 }
  }

  /// Has the engine read the instructions and tools, so that the first answer begins sooner.
  public func prewarm() async throws {
    var request = withState { $0.request(for: [.user("")]) }
    request.sampling.maximumTokens = 1
    _ = try await engine.respond(to: request)
  }

  private func stream<Element: Sendable>(
    _ message: String, grammar: Request.Grammar? = nil, _ pick: @escaping @Sendable (Event) -> Element?
  ) -> AsyncThrowingStream<Element, any Error> {
    AsyncThrowingStream { continuation in
      do {
        let id = try begin(message, grammar)
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

  /// One answer of the engine within a turn; tool results begin another one.
  private struct Round: Sendable {
    var id: Int
    var deliver: @Sendable (Event) -> Void
    var finish: @Sendable ((any Error)?) -> Void
  }

  private func begin(_ message: String, _ grammar: Request.Grammar?) throws -> Int {
    try withState { state in
      if state.turn != nil { throw PagodaError.invalidArgument("the session is still answering the last message") }
      state.turnCount += 1
      state.turn = Turn(id: state.turnCount, messages: [.user(message)], grammar: grammar)
      return state.turnCount
    }
  }

  private func run(_ round: Round) {
    do {
      guard let request = withState({ $0.turn?.id == round.id ? $0.requestOfTurn() : nil }) else {
        return round.finish(nil)  // reset or cancelled meanwhile
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
      if !isCurrent { cancel() }  // the reader went away between two rounds; no effect on an answer that is whole
    } catch {
      drop(round.id)
      round.finish(error)
    }
  }

  /// Runs on the engine's thread. Turns that are not the current one any more were reset or cancelled. False for the end
  /// of an answer that tool results will continue.
  private func note(_ event: Event, in id: Int) -> Bool {
    switch event {
    case .text(let piece): withState { if $0.turn?.id == id { $0.turn?.text += piece } }
    case .reasoning(let piece): withState { if $0.turn?.id == id { $0.turn?.reasoning += piece } }
    case .toolCall(let call): withState { if $0.turn?.id == id { $0.turn?.calls.append(call) } }
    case .token, .rejectedToolCall: break
    case .finished(let completion):
      if completion.finishReason == .stop && withState({ $0.hasCallsToRun(in: id) }) { return false }
      close(id, with: completion)
    }
    return true
  }

  /// Begins to run what the model called, if it called anything; the next round follows.
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
      withState { if $0.turn?.id == round.id { $0.endRound(results) } }
      run(round)
    }
    withState { if $0.turn?.id == round.id { $0.turn?.cancel = { task.cancel() } } }
    return true
  }

  /// Moves a turn into the history. One that was stopped before any answer came leaves no trace.
  private func close(_ id: Int, with completion: Completion?) {
    withState { state in
      guard let turn = state.turn, turn.id == id else { return }
      state.turn = nil
      state.lastCompletion = completion
      if completion == nil && turn.text.isEmpty && turn.messages.count == 1 { return }
      state.history += turn.messages
      if completion == nil && turn.text.isEmpty { return }
      let reasoning = turn.reasoning.isEmpty ? nil : turn.reasoning
      let calls = completion == nil ? [] : turn.calls
      state.history.append(Message(role: .assistant, content: turn.text, reasoning: reasoning, toolCalls: calls))
    }
  }

  private func drop(_ id: Int) {
    withState { state in
      guard state.turn?.id == id else { return }
      state.turn = nil
      state.lastCompletion = nil
    }
  }
}
