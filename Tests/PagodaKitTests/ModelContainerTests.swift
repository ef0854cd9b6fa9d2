// A model on demand: shared loading, unloading, estimates; and sessions that are saved, warmed and answered with values.
import Foundation
import PagodaKit
import Testing

@Suite struct ModelContainerTests {
  @Test func callers_at_the_same_time_share_one_load() async throws {
    let model = ModelContainer(.mini)
    #expect(await !model.isLoaded)
    async let first = model.engine()
    async let second = model.engine()
    #expect(try await first === second)
    #expect(await model.isLoaded)
    #expect(try await model.session().respond(to: Shared.france).contains("Paris"))
    await model.unload()
    #expect(await !model.isLoaded)
    let ended = try await first
    await #expect(throws: PagodaError.self) { try await ended.respond(to: Request("x")) }
    try await model.preload()
    #expect(try await model.engine() !== ended)
    await model.unload()
  }

  @Test func availability_tells_memory_or_the_reason() async throws {
    let plan = try await ModelContainer(.mini).memoryEstimate()
    #expect(await ModelContainer(.mini).availability() == .available(plan))
    #expect(plan.totalBytes > 0)
    guard case .unavailable(let error) = await ModelContainer(.folder(path: "/no/such/model")).availability() else {
      Issue.record("a missing folder is available")
      return
    }
    #expect(error.code == "not_found")
  }

  @Test func a_saved_session_goes_on() async throws {
    let engine = try await Shared.engine
    let session = ChatSession(engine, instructions: "Answer briefly.")
    _ = try await session.respond(to: "Hi, my name is Anna.")
    let data = try JSONEncoder().encode(session.transcript)
    let restored = ChatSession(engine, transcript: try JSONDecoder().decode(Transcript.self, from: data))
    #expect(restored.transcript == session.transcript)
    #expect(try await restored.respond(to: "What is my name?").contains("Anna"))
  }

  @Test func a_warmed_session_finds_its_instructions_read() async throws {
    let engine = try await Engine.load(.mini)
    let words =
      "Answer briefly, kindly and in one sentence, whatever it is that you are asked. Never say more than that."
    let session = ChatSession(engine, instructions: words)
    try await session.prewarm()
    #expect(session.history.isEmpty)
    _ = try await session.respond(to: Shared.france)
    #expect(try #require(session.lastCompletion).usage.cachedTokens > 0)
    await engine.shutDown()
  }

  @Test func an_answer_can_be_a_value() async throws {
    struct Answer: Decodable, Sendable { var capital: String }
    let session = ChatSession(try await Shared.engine)
    session.sampling.maximumTokens = 200
    let schema = #"""
      {"type":"object","properties":{"capital":{"type":"string","maxLength":20}},"required":["capital"]}
      """#
    let answer = try await session.respond(to: Shared.france, generating: Answer.self, schema: schema)
    #expect(!answer.capital.isEmpty)
    #expect(session.history.count == 2)
  }
}
