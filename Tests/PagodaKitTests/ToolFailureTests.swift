// Failures of tools: the policy, the event, and calls that ran when a turn is stopped or fails.
import PagodaKit
import PagodaTesting
import Testing

@Suite struct ToolFailureTests {
  private static let weather = ToolDefinition(name: "weather", description: "The weather.")
  private static let broken = PagodaError.notFound("no weather today")

  /// A session whose tool fails this often before it works; `runs` records each run.
  private func session(
    failing count: Int, _ policy: ToolFailurePolicy, _ runs: Recorder<String> = Recorder()
  ) -> ChatSession {
    let tool = Tool(Self.weather) { call in
      runs.append(call.id)
      if runs.values.count <= count { throw Self.broken }
      return "sunny"
    }
    let session = ChatSession(ScriptedEngine(.toolCall("weather"), "It is so."), tools: [tool])
    session.toolFailures = policy
    return session
  }

  private func failures(of session: ChatSession) async throws -> [ToolFailure] {
    var failures: [ToolFailure] = []
    for try await event in session.streamEvents(to: "?") {
      if case .toolFailed(let failure) = event { failures.append(failure) }
    }
    return failures
  }

  @Test func the_model_is_told_and_the_client_sees_the_error() async throws {
    let session = session(failing: 1, .tellModel)
    let seen = try await failures(of: session)
    #expect(seen.map(\.message) == ["no weather today"] && seen.first?.error as? PagodaError == Self.broken)
    #expect(session.history.first { $0.role == .tool }?.content == "error: no weather today")
  }

  @Test func a_failure_can_end_the_answer() async throws {
    let session = session(failing: 1, .throwError)
    await #expect(throws: Self.broken) { try await session.respond(to: "?") }
    #expect(!session.isResponding)
    #expect(session.history.map(\.role) == [.user, .assistant, .tool])  // the call was made
  }

  @Test(arguments: [(1, 1, "sunny"), (2, 2, "sunny"), (3, 3, "error: no weather today")])
  func a_failure_can_be_retried(failing: Int, events: Int, result: String) async throws {
    let runs = Recorder<String>()
    let session = session(failing: failing, .retry(2), runs)
    #expect(try await failures(of: session).count == events)
    #expect(session.history.first { $0.role == .tool }?.content == result)
    #expect(runs.values.count == 3 || failing == 1)
  }

  @Test func a_call_of_an_unknown_tool_is_a_failure() async throws {
    let session = ChatSession(ScriptedEngine(.toolCall("wether"), "So."), tools: [Tool("weather") { "sunny" }])
    #expect(try await failures(of: session).map(\.message) == ["there is no tool 'wether'"])
  }

  @Test func calls_that_ran_stay_when_the_turn_is_stopped() async throws {
    let (first, second) = (
      ToolCall(id: "1", name: "fast", arguments: "{}"), ToolCall(id: "2", name: "slow", arguments: "{}")
    )
    let third = ToolCall(id: "3", name: "fast", arguments: "{}")
    let runs = Recorder<String>()
    let slow = Tool("slow") {
      runs.append("slow")
      try await Task.sleep(for: .seconds(3600))
      return "late"
    }
    let answer = ScriptedAnswer(events: [.text("Looking."), .toolCall(first), .toolCall(second), .toolCall(third)])
    let session = ChatSession(ScriptedEngine(answer), tools: [Tool("fast") { "done" }, slow])
    let task = Task { try await session.respond(to: "?") }
    #expect(try await eventually { runs.values == ["slow"] })
    session.stop()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(
      session.history == [
        .user("?"), Message(role: .assistant, content: "Looking.", toolCalls: [first, second]),
        .tool("done", callID: "1"), .tool("error: the call was cancelled", callID: "2"),
      ])
  }

  @Test func calls_that_ran_stay_when_the_next_round_is_stopped_or_fails() async throws {
    let tool = Tool("weather") { "sunny" }
    let engine = ScriptedEngine(.toolCall("weather"), .endless("It"), .toolCall("weather"), .failure(Self.broken))
    let session = ChatSession(engine, tools: [tool])
    for try await event in session.streamEvents(to: "?") { if case .text = event { break } }
    #expect(try await eventually { !session.isResponding })
    #expect(session.history.map(\.role) == [.user, .assistant, .tool, .assistant])
    #expect(session.history.last?.content == "It" && engine.cancelledCount == 1)
    session.reset()
    await #expect(throws: Self.broken) { try await session.respond(to: "?") }
    #expect(session.history.map(\.role) == [.user, .assistant, .tool])
  }
}
