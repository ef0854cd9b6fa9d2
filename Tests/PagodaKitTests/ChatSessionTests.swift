// Conversations: memory over turns, reset, partial answers, one answer at a time.
import PagodaKit
import Testing

@Suite struct ChatSessionTests {
  @Test func recalls_a_name_across_turns() async throws {
    let session = ChatSession(try await Shared.engine)
    _ = try await session.respond(to: "Hi, my name is Anna.")
    let answer = try await session.respond(to: "What is my name?")
    #expect(answer.contains("Anna"), "\(answer)")
    #expect(session.history.map(\.role) == [.user, .assistant, .user, .assistant])
    #expect(session.history.last?.content == answer)
    #expect(session.lastCompletion?.finishReason == .stop)
  }

  @Test func reset_forgets_the_conversation_and_keeps_the_instructions() async throws {
    let session = ChatSession(try await Shared.engine, instructions: "Answer briefly.")
    _ = try await session.respond(to: "Hi, my name is Anna.")
    session.reset()
    #expect(session.history.isEmpty)
    #expect(session.instructions == "Answer briefly.")
    #expect(try await !session.respond(to: "What is my name?").contains("Anna"))
  }

  @Test func streaming_equals_responding() async throws {
    let engine = try await Shared.engine
    var text = ""
    for try await piece in ChatSession(engine).streamResponse(to: Shared.france) { text += piece }
    #expect(try await ChatSession(engine).respond(to: Shared.france) == text)
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
      for try await piece in session.streamResponse(to: Shared.france) {
        text += piece
        if text.contains("Paris") { break }
      }
      return text
    }
    let seen = try await reader.value
    #expect(try await eventually { !session.isResponding })
    #expect(session.history.count == 2)
    #expect(session.history.last?.content.hasPrefix(seen) == true)
    session.sampling = SamplingParameters()
    #expect(try await !session.respond(to: "Hello!").isEmpty)
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
      case .reasoning(let piece): reasoning += piece
      case .text(let piece): text += piece
      case .toolCall, .rejectedToolCall, .token, .finished: break
      }
    }
    #expect(!reasoning.isEmpty)
    #expect(!text.isEmpty && !text.contains("think>"))
    #expect(session.history.last?.reasoning == reasoning)
  }
}
