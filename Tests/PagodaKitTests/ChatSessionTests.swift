// Conversations: memory over turns, reset, partial answers, one answer at a time.
import Observation
import PagodaKit
import Testing

@Suite struct ChatSessionTests {
  @Test func recalls_a_name_across_turns() async throws {
    let session = ChatSession(try await Shared.engine)
    _ = try await session.respond(to: "Hi, my name is Anna.")
    let answer = try await session.respond(to: "What is my name?")
    #expect(answer.text.contains("Anna"), "\(answer)")
    #expect(session.history.map(\.role) == [.user, .assistant, .user, .assistant])
    #expect(session.history.last?.content == answer.text)
    #expect(session.lastCompletion?.finishReason == .stop)
  }

  @Test func reset_forgets_the_conversation_and_keeps_the_instructions() async throws {
    let session = ChatSession(try await Shared.engine, instructions: "Answer briefly.")
    _ = try await session.respond(to: "Hi, my name is Anna.")
    session.reset()
    #expect(session.history.isEmpty)
    #expect(session.instructions == "Answer briefly.")
    #expect(try await !session.respond(to: "What is my name?").text.contains("Anna"))
  }

  @Test func streaming_equals_responding() async throws {
    let engine = try await Shared.engine
    var text = ""
    for try await chunk in ChatSession(engine).streamResponse(to: Shared.france) { text += chunk }
    #expect(try await ChatSession(engine).respond(to: Shared.france).text == text)
  }

  @Test func instructions_reach_the_model() async throws {
    let engine = try await Shared.engine
    let plain = ChatSession(engine)
    let instructed = ChatSession(engine, instructions: "Answer briefly.")
    _ = try await plain.respond(to: Shared.france)
    _ = try await instructed.respond(to: Shared.france)
    let counts = [plain, instructed].compactMap { $0.lastCompletion?.usage.promptTokens }
    #expect(counts.count == 2 && counts[0] < counts[1])
  }

  @Test func a_second_message_during_an_answer_is_refused() async throws {
    let session = ChatSession(try await Shared.engine, sampling: Shared.endless.sampling)
    let first = session.streamResponse(to: Shared.france)
    #expect(session.isResponding)
    await #expect(throws: PagodaError.self) { try await session.respond(to: "x") }
    _ = first
  }

  @Test func a_stopped_answer_is_remembered_as_far_as_it_came() async throws {
    let session = ChatSession(try await Shared.engine, sampling: Shared.endless.sampling)
    let reader = Task {
      var text = ""
      for try await chunk in session.streamResponse(to: Shared.france) {
        text += chunk
        if text.contains("Paris") { break }
      }
      return text
    }
    let seen = try await reader.value
    #expect(try await eventually { !session.isResponding })
    #expect(session.history.count == 2)
    #expect(session.history.last?.content.hasPrefix(seen) == true)
    session.sampling = SamplingParameters()
    #expect(try await !session.respond(to: "Hello!").text.isEmpty)
  }

  @Test func a_failed_message_leaves_no_trace() async throws {
    let session = ChatSession(try await Shared.engine)
    session.sampling.temperature = -1
    await #expect(throws: PagodaError.self) { try await session.respond(to: Shared.france) }
    #expect(session.history.isEmpty && !session.isResponding)
  }

  @Test func thinking_arrives_apart_from_the_answer() async throws {
    let session = ChatSession(try await Shared.engine, thinking: true)
    var reasoning = ""
    var text = ""
    for try await event in session.streamEvents(to: "What is 12 plus 30?") {
      switch event {
      case .reasoning(let chunk): reasoning += chunk
      case .text(let chunk): text += chunk
      case .toolCall, .rejectedToolCall, .toolFailed, .token, .promptProgress, .contextTrimmed, .finished: break
      }
    }
    #expect(!reasoning.isEmpty)
    #expect(!text.isEmpty && !text.contains("think>"))
    #expect(session.history.last?.reasoning == reasoning)
  }

  @Test func options_of_one_call_leave_the_session_as_it_was() async throws {
    let session = ChatSession(try await Shared.engine)
    let short = try await session.respond(to: Shared.france, options: ResponseOptions(maximumTokens: 1))
    #expect(short.usage.completionTokens == 1 && short.completion.finishReason == .length)
    session.reset()
    let thoughtful = try await session.respond(to: "What is 12 plus 30?", options: ResponseOptions(thinking: true))
    #expect(!thoughtful.reasoning.isEmpty)
    session.reset()
    let plain = try await session.respond(to: Shared.france)
    #expect(plain.completion.finishReason == .stop && plain.usage.completionTokens > 1)
    #expect("\(plain)" == plain.text && plain.tokens.count == plain.usage.completionTokens)
  }

  @Test func messages_are_input_too() async throws {
    let session = ChatSession(try await Shared.engine)
    let talk: [Message] = [.user("Hi, my name is Anna."), .assistant("Hello Anna!"), .user("What is my name?")]
    #expect(try await session.respond(to: talk).text.contains("Anna"))
    #expect(session.history.map(\.role) == [.user, .assistant, .user, .assistant])
    session.reset()
    #expect(try await session.respond(to: Message.user(Shared.france)).text.contains("Paris"))
    await #expect(throws: PagodaError.self) { try await session.respond(to: [Message]()) }
  }

  @Test func tokens_of_a_chat_are_counted_as_the_engine_counts_them() async throws {
    let session = ChatSession(try await Shared.engine, instructions: "Answer briefly.")
    let counted = try session.tokenCount(adding: Shared.france)
    let response = try await session.respond(to: Shared.france)
    #expect(counted == response.usage.promptTokens)
    #expect(try session.tokenCount() > counted)
    #expect(try session.engine.tokenCount(of: Request(prompt: .tokens([1, 2, 3]))) == 3)
  }

  @Test func observers_are_notified_after_the_change() async throws {
    let session = ChatSession(try await Shared.engine)
    let seen = Recorder<String?>()
    withObservationTracking {
      _ = session.instructions
    } onChange: {
      seen.append(session.instructions)
    }
    session.instructions = "Answer briefly."
    #expect(seen.values == ["Answer briefly."])
  }

  @Test func a_token_does_not_invalidate_readers_of_other_properties() async throws {
    let session = ChatSession(try await Shared.engine)
    let changed = Recorder<String>()
    func watch(_ name: String, _ read: @escaping @Sendable () -> Void) {
      withObservationTracking(read) { changed.append(name) }
    }
    watch("instructions") { _ = session.instructions }
    watch("sampling") { _ = session.sampling }
    watch("tools") { _ = session.tools }
    watch("thinking") { _ = session.thinking }
    watch("history") { _ = session.history }
    watch("transcript") { _ = session.transcript }
    watch("responseInProgress") { _ = session.responseInProgress }
    for try await event in session.streamEvents(to: Shared.france) {
      guard case .text = event else { continue }
      #expect(changed.values.first == "responseInProgress")
    }
    #expect(try await eventually { changed.values.count == 3 })
    #expect(Set(changed.values) == ["responseInProgress", "history", "transcript"])
    session.instructions = "Answer briefly."
    #expect(changed.values.last == "instructions" && changed.values.count == 4)
  }

  @Test func observers_see_an_answer_come() async throws {
    let session = ChatSession(try await Shared.engine)
    let changes = Recorder<String>()
    await watch(session, changes)
    // An observer is called on another thread, and on a busy machine a whole answer may arrive before it runs: asks
    // again until it has seen a partial answer.
    session.sampling.temperature = 0
    var seesPart = false
    for _ in 0..<100 where !seesPart {
      session.reset()
      let answer = try await session.respond(to: "Write a story about a fox.").text
      seesPart = changes.values.contains { !$0.isEmpty && $0 != "none" && answer.hasPrefix($0) }
    }
    #expect(seesPart)
    #expect(try await eventually { changes.values.last == "none" })
    #expect(session.responseInProgress == nil)
  }
}

/// Records the answer in progress now, and at every change from now on.
@MainActor private func watch(_ session: ChatSession, _ changes: Recorder<String>) {
  withObservationTracking {
    _ = session.responseInProgress
  } onChange: {
    Task { await watch(session, changes) }
  }
  changes.append(session.responseInProgress?.content ?? "none")  // read again: only later changes are reported
}
