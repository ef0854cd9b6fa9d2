// Logit processors and samplers of a client: what they change, what they must not hold up, and how they end.
import Foundation
import PagodaKit
import Testing

@Suite struct LogitProcessorTests {
  private struct Refusal: Error {}

  /// A request whose answer is always the same.
  private static func greedy(_ question: String = Shared.france) -> Request {
    var sampling = SamplingParameters(temperature: 0)
    sampling.topLogProbabilities = 2
    return Request(question, sampling: sampling)
  }

  private static func answer(_ engine: Engine, _ processor: LogitProcessor?) async throws -> Response {
    var request = greedy()
    request.logitProcessor = processor
    return try await engine.respond(to: request)
  }

  @Test func a_rule_that_changes_nothing_leaves_the_answer_as_it_is() async throws {
    let engine = try await Shared.engine
    let rows = Recorder<LogitRow>()
    let plain = try await Self.answer(engine, nil)
    let seen = try await Self.answer(engine, LogitProcessor { rows.append($0) })
    #expect(seen.text == plain.text && seen.tokens == plain.tokens)
    let ids = plain.tokens.map(\.id)
    #expect(rows.values.map(\.answerTokens.count) == Array(0..<rows.values.count))
    #expect(rows.values.last?.answerTokens.elementsEqual(ids.prefix(rows.values.count - 1)) == true)
    #expect(rows.values.allSatisfy { $0.promptTokenCount == plain.completion.usage.promptTokens })
    #expect(rows.values.allSatisfy { $0.logits.count == engine.info.vocabularySize && $0.chosenToken == nil })
  }

  @Test func a_forbidden_token_is_not_in_the_answer() async throws {
    let engine = try await Shared.engine
    let first = try #require(try await Self.answer(engine, nil).tokens.first).id
    let without = try await Self.answer(engine, LogitProcessor { $0[first] = -.infinity })
    #expect(!without.tokens.isEmpty && !without.tokens.contains { $0.id == first })
  }

  @Test func a_sampler_chooses_every_token() async throws {
    let engine = try await Shared.engine
    let tokenizer = try #require(engine.tokenizer)
    let script = try tokenizer.encode("Lima, of course.<|im_end|>", parsingSpecialTokens: true)
    let response = try await Self.answer(engine, .sampler { script[$0.answerTokens.count] })
    #expect(response.text == "Lima, of course." && response.completion.finishReason == .stop)
  }

  @Test func a_session_uses_it_for_one_answer() async throws {
    let session = ChatSession(try await Shared.engine, sampling: SamplingParameters(temperature: 0))
    let end = try #require(session.engine.tokenizer).encode("<|im_end|>", parsingSpecialTokens: true)[0]
    let silent = ResponseOptions(logitProcessor: .sampler { _ in end })
    #expect(try await session.respond(to: Shared.france, options: silent).text == "")
    session.reset()
    #expect(try await session.respond(to: Shared.france).text.contains("Paris"))
  }

  @Test func a_grammar_excludes_ids_before_the_rule_and_after_it() async throws {
    let engine = try await Shared.engine
    let rows = Recorder<LogitRow>()
    var request = Self.greedy()
    request.grammar = .choice(["Rome", "Lima"])
    request.logitProcessor = LogitProcessor { rows.append($0) }
    #expect(["Rome", "Lima"].contains(try await engine.respond(to: request).text))
    let excluded = Int32(try #require(rows.values.first?.logits.firstIndex(of: -.infinity)))
    request.logitProcessor = .sampler { _ in excluded }
    await #expect(throws: PagodaError.self) { try await engine.respond(to: request) }
  }

  /// Blocks its rule until another request has ended: a rule that held up the engine would wait in vain.
  @Test func a_slow_rule_does_not_hold_up_other_requests() async throws {
    let engine = try await Shared.engine
    let (asked, answered) = (Gate(), Gate())
    async let slow = Self.answer(
      engine,
      LogitProcessor { _ in
        asked.open()
        if !answered.wait() { throw Refusal() }
      })
    #expect(try await eventually { asked.isOpen })
    let other = try await Self.answer(engine, nil)
    answered.open()
    #expect(try await slow.tokens == other.tokens)
  }

  @Test func a_reader_that_leaves_does_not_wait_for_the_rule() async throws {
    let engine = try await Engine.load(.mini)
    let (asked, released) = (Gate(), Gate())
    let reader = Task {
      try await Self.answer(
        engine,
        LogitProcessor { _ in
          asked.open()
          _ = released.wait()
        })
    }
    #expect(try await eventually { asked.isOpen })
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    #expect(try await eventually { engine.statistics.running == 0 })
    await engine.shutDown()
    released.open()
  }

  @Test func an_engine_that_is_shut_down_fails_an_answer_whose_rule_is_running() async throws {
    let engine = try await Engine.load(.mini)
    let (asked, released) = (Gate(), Gate())
    let reader = Task {
      try await Self.answer(
        engine,
        LogitProcessor { _ in
          asked.open()
          _ = released.wait()
        })
    }
    #expect(try await eventually { asked.isOpen })
    await engine.shutDown()
    released.open()
    await #expect { try await reader.value } throws: { ($0 as? PagodaError)?.code == "shut_down" }
  }

  @Test func an_error_of_the_rule_reaches_the_reader() async throws {
    let engine = try await Shared.engine
    await #expect(throws: Refusal.self) { try await Self.answer(engine, LogitProcessor { _ in throw Refusal() }) }
    #expect(try await Self.answer(engine, nil).text.contains("Paris"))
  }

  @Test(arguments: [
    ("NaN", LogitProcessor { $0.logits[3] = .nan }),
    ("infinity", LogitProcessor { $0.logits[3] = .infinity }),
    ("every logit", LogitProcessor { row in row.logits.indices.forEach { row.logits[$0] = -.infinity } }),
    ("instead of", LogitProcessor { $0.logits.removeLast() }),
    ("0 logits", LogitProcessor { $0.logits = [] }),
    ("ids", LogitProcessor.sampler { Int32($0.logits.count) }),
    ("negative", LogitProcessor.sampler { _ in -7 }),
  ])
  func a_row_that_cannot_be_sampled_is_refused(_ reason: String, _ processor: LogitProcessor) async throws {
    let engine = try await Shared.engine
    await #expect {
      try await Self.answer(engine, processor)
    } throws: {
      guard case PagodaError.invalidArgument(let message) = $0 else { return false }
      return message.contains(reason)
    }
  }

  @Test func rules_are_compared_by_identity_and_can_be_tried_alone() throws {
    let rule = LogitProcessor { $0[1] -= 2 }
    let copy = rule
    #expect(copy == rule && Set([copy, rule]).count == 1 && rule != LogitProcessor { $0[1] -= 2 })
    var row = LogitRow(logits: [0, 5], tokens: [7, 8, 9], promptTokenCount: 2)
    try rule.apply(to: &row)
    #expect(row.logits == [0, 3] && Array(row.answerTokens) == [9])
  }
}

/// Opened once, for any number of waiters on other threads.
private final class Gate: @unchecked Sendable {
  private let condition = NSCondition()
  private var wasOpened = false  // guarded by `condition`

  var isOpen: Bool { condition.withLock { wasOpened } }

  func open() {
    condition.withLock { wasOpened = true }
    condition.broadcast()
  }

  /// Blocks its thread. False if it was not opened within five minutes.
  func wait() -> Bool {
    condition.withLock {
      let end = Date(timeIntervalSinceNow: 300)
      while !wasOpened { if !condition.wait(until: end) { return wasOpened } }
      return true
    }
  }
}
