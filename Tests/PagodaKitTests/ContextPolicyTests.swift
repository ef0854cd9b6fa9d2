// Conversations that outgrow the context, and the progress of long prompts.
import PagodaKit
import PagodaMini
import Testing

@Suite struct ContextPolicyTests {
  private func smallEngine(_ length: Int) async throws -> Engine {
    var options = EngineOptions()
    options.maximumSequences = 1
    options.maximumModelLength = length
    options.maximumBatchedTokens = 64
    return try await Engine.load(.mini, options: options)
  }

  @Test func a_cut_stays_where_it_is_until_a_whole_step_is_full() {
    let turn = 10  // tokens of every turn
    var cuts: [Int] = []
    for count in 1...100 {
      cuts.append(
        firstTurnKept(excess: count * turn - 300, step: 100, turnCount: count, omittedTokens: { $0 * turn }))
    }
    #expect(cuts[29] == 0 && cuts[30] == 10 && cuts[39] == 10 && cuts[40] == 20)
    #expect(Set(cuts).count == 8, "700 tokens are omitted in steps of 100: \(cuts)")
    #expect(zip(cuts, cuts.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test func the_last_turn_is_never_cut() {
    #expect(firstTurnKept(excess: 500, step: 100, turnCount: 1, omittedTokens: { _ in 0 }) == 0)
    #expect(firstTurnKept(excess: 500, step: 100, turnCount: 3, omittedTokens: { $0 * 10 }) == 2)
  }

  @Test func a_full_context_lets_the_oldest_turns_go() async throws {
    let engine = try await smallEngine(384)
    let session = ChatSession(engine, instructions: "Answer briefly.")
    session.sampling.maximumTokens = 24
    var omitted: [Int] = []
    var shared: [Bool] = []  // whether a prompt with the same cut as the last one was mostly cached
    for number in 1...30 {
      var count = 0
      for try await event in session.streamEvents(to: "What is \(number) plus \(number)?") {
        if case .contextTrimmed(let messages) = event { count = messages }
      }
      let usage = try #require(session.lastCompletion?.usage)
      #expect(usage.promptTokens + usage.completionTokens <= 384)
      if let last = omitted.last, last == count, last > 0 { shared.append(usage.cachedTokens * 2 > usage.promptTokens) }
      omitted.append(count)
    }
    #expect(session.history.count == 60, "nothing is lost")
    #expect(omitted.last! > 0 && omitted.allSatisfy { $0 % 2 == 0 }, "whole turns: \(omitted)")
    #expect(Set(omitted).count < 10, "large steps: \(omitted)")
    #expect(shared.count > 5 && shared.allSatisfy { $0 }, "\(shared)")
    #expect(try session.tokenCount() <= 384)
    await engine.shutDown()
  }

  @Test func a_full_context_is_an_error_when_asked_for() async throws {
    let engine = try await smallEngine(128)
    let session = ChatSession(engine, sampling: SamplingParameters())
    session.contextPolicy = .stop
    session.sampling.maximumTokens = 8
    session.history = (0..<20).flatMap { [Message.user("Question \($0)?"), .assistant("Answer \($0).")] }
    await #expect {
      try await session.respond(to: "Hello!")
    } throws: {
      if case PagodaError.contextOverflow = $0 { true } else { false }
    }
    #expect(try session.tokenCount() > 128 && session.history.count == 40)
    session.contextPolicy = .trim
    #expect(try await !session.respond(to: "Hello!").text.isEmpty)
    await engine.shutDown()
  }

  @Test func a_limit_beyond_the_context_is_reduced_when_turns_may_go() async throws {
    let engine = try await smallEngine(128)
    let session = ChatSession(engine)
    session.sampling.maximumTokens = 4000
    #expect(try await session.respond(to: Shared.france).text.contains("Paris"))
    await engine.shutDown()
  }

  @Test func progress_of_a_long_prompt_is_reported_if_asked_for() async throws {
    let engine = try await smallEngine(4096)
    var request = Request(String(repeating: "What is the capital of France? ", count: 100))
    request.sampling.maximumTokens = 1
    request.usesPrefixCache = false
    var seen: [[PromptProgress]] = []
    for interval in [nil, 0.0] as [Double?] {
      request.promptProgressInterval = interval
      var reports: [PromptProgress] = []
      var hasToken = false
      for try await event in engine.submit(request) {
        if case .token = event { hasToken = true }
        if case .promptProgress(let progress) = event {
          #expect(!hasToken, "no progress after the first token")
          reports.append(progress)
        }
      }
      seen.append(reports)
    }
    #expect(seen[0].isEmpty && seen[1].count > 5)
    #expect(zip(seen[1], seen[1].dropFirst()).allSatisfy { $0.completedTokens < $1.completedTokens })
    #expect(seen[1].allSatisfy { $0.fraction > 0 && $0.fraction < 1 && $0.estimatedSecondsLeft ?? 0 > 0 })
    await engine.shutDown()
  }

  @Test func the_rest_takes_as_long_per_token_as_the_part_read() {
    let progress = PromptProgress(completedTokens: 600, totalTokens: 1000, cachedTokens: 500, elapsedSeconds: 2)
    #expect(progress.fraction == 0.6 && progress.estimatedSecondsLeft == 8)
    let cached = PromptProgress(completedTokens: 500, totalTokens: 1000, cachedTokens: 500, elapsedSeconds: 0)
    #expect(cached.estimatedSecondsLeft == nil)
  }
}
