// Answers of a chat session: whole, as text pieces, or as events; each turn enters the history when it ends.

extension ChatSession {
  /// Answers a message and remembers both.
  public func respond(to message: String) async throws -> String {
    var text = ""
    for try await piece in streamResponse(to: message) { text += piece }
    try Task.checkCancellation()
    return text
  }

  /// Answers a message piece by piece, without the reasoning.
  public func streamResponse(to message: String) -> AsyncThrowingStream<String, any Error> {
    stream(message) { if case .text(let text) = $0 { text } else { nil } }
  }

  /// Answers a message as events: reasoning, text, tokens, and how it ended.
  ///
  /// When the reader goes away, the answer stops and the part that has come is remembered.
  public func streamEvents(to message: String) -> AsyncThrowingStream<Event, any Error> {
    stream(message) { $0 }
  }

  private func stream<Element: Sendable>(
    _ message: String, _ pick: @escaping @Sendable (Event) -> Element?
  ) -> AsyncThrowingStream<Element, any Error> {
    AsyncThrowingStream { continuation in
      do {
        let (turn, request) = try begin(message)
        do {
          let cancel = try engine.start(request) { event in
            self.note(event, in: turn)
            if let element = pick(event) { continuation.yield(element) }
          } end: { error in
            if error != nil { self.drop(turn) }
            continuation.finish(throwing: error)
          }
          continuation.onTermination = { reason in
            guard case .cancelled = reason else { return }
            cancel()
            self.close(turn, with: nil)
          }
        } catch {
          drop(turn)
          throw error
        }
      } catch {
        continuation.finish(throwing: error)
      }
    }
  }

  private func begin(_ message: String) throws -> (turn: Int, Request) {
    try withState { state in
      if state.turn != nil { throw PagodaError.invalidArgument("the session is still answering the last message") }
      state.turnCount += 1
      state.turn = Turn(id: state.turnCount, question: message)
      let system = state.instructions.map { [Message.system($0)] } ?? []
      let request = Request(
        messages: system + state.history + [.user(message)], sampling: state.sampling, thinking: state.thinking)
      return (state.turnCount, request)
    }
  }

  /// Runs on the engine's thread. Turns that are not the current one any more were reset or cancelled.
  private func note(_ event: Event, in turn: Int) {
    switch event {
    case .text(let piece): withState { if $0.turn?.id == turn { $0.turn?.text += piece } }
    case .reasoning(let piece): withState { if $0.turn?.id == turn { $0.turn?.reasoning += piece } }
    case .token: break
    case .finished(let completion): close(turn, with: completion)
    }
  }

  /// Moves a turn into the history. One that was stopped before any answer came leaves no trace.
  private func close(_ id: Int, with completion: Completion?) {
    withState { state in
      guard let turn = state.turn, turn.id == id else { return }
      state.turn = nil
      state.lastCompletion = completion
      if completion == nil && turn.text.isEmpty { return }
      let reasoning = turn.reasoning.isEmpty ? nil : turn.reasoning
      state.history.append(.user(turn.question))
      state.history.append(Message(role: .assistant, content: turn.text, reasoning: reasoning))
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
