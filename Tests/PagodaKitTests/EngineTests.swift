// The engine through its Swift API: loading, streams, concurrency, cancellation, errors.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@Suite struct EngineTests {
  @Test func mini_loads_and_knows_capitals() async throws {
    let response = try await Shared.engine.respond(to: Request(Shared.france))
    #expect(response.text.contains("Paris"))
    #expect(response.completion.finishReason == .stop)
    #expect(response.completion.usage.completionTokens == response.tokens.count)
    #expect(response.completion.usage.promptTokens > 0)
  }

  @Test func loading_reports_progress_up_to_one() async throws {
    let fractions = Recorder<Double>()
    let engine = try await Engine.load(.mini) { fractions.append($0.fraction) }
    await engine.shutDown()
    #expect(fractions.values.last == 1)
    #expect(fractions.values == fractions.values.sorted())
  }

  @Test func weight_cache_serves_the_second_load() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pagoda-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = EngineOptions()
    options.weightCacheFolder = folder.path
    var notes: [String] = []
    for _ in 0..<2 {
      let engine = try await Engine.load(.mini, options: options)
      #expect(try await engine.respond(to: Request(Shared.france)).text.contains("Paris"))
      notes.append(engine.info.weightCacheNote ?? "")
      await engine.shutDown()
    }
    #expect(notes[0].contains("written to") && notes[1].contains("read from"), "\(notes)")
    #expect(try await Shared.engine.info.weightCacheNote == nil)
  }

  @Test func the_same_prompt_again_is_found_and_answered_the_same() async throws {
    let engine = try await Engine.load(.mini)
    var request = Request(Shared.france)
    request.sampling.topLogProbabilities = 2
    let first = try await engine.respond(to: request)
    let again = try await engine.respond(to: request)
    #expect(again.tokens == first.tokens)
    #expect(first.completion.usage.cachedTokens == 0)
    #expect(again.completion.usage.cachedTokens > 0)
    #expect(again.completion.usage.matchedTokens >= again.completion.usage.cachedTokens)
    request.cacheSalt = "another tenant"
    #expect(try await engine.respond(to: request).completion.usage.cachedTokens == 0)
    request.cacheSalt = nil
    request.usesPrefixCache = false
    #expect(try await engine.respond(to: request).completion.usage.cachedTokens == 0)
    let cache = engine.statistics.prefixCache
    #expect(cache.lookups == 3 && cache.hits == 1 && cache.checkpoints > 0 && cache.cachedBlocks > 0)
    #expect(cache.checkpointHits == 1 && engine.statistics.forwardSeconds > 0)
    #expect(engine.statistics.disk == nil && engine.statistics.hostCache == nil)
    #expect(engine.info.plan.checkpointCount > 0)
    await engine.shutDown()
  }

  @Test func streaming_equals_respond() async throws {
    let engine = try await Shared.engine
    let whole = try await engine.respond(to: Request(Shared.france))
    var text = ""
    var tokens: [TokenInfo] = []
    var completions: [Completion] = []
    for try await event in engine.submit(Request(Shared.france)) {
      switch event {  // no default: clients may rely on these
      case .text(let chunk): text += chunk
      case .reasoning(let chunk): Issue.record("unexpected reasoning: \(chunk)")
      case .toolCall, .rejectedToolCall, .toolFailed: Issue.record("unexpected call: \(event)")
      case .token(let token): tokens.append(token)
      case .promptProgress, .contextTrimmed: Issue.record("an event that was not asked for: \(event)")
      case .finished(let completion): completions.append(completion)
      }
    }
    #expect(text == whole.text)
    #expect(tokens == whole.tokens)
    #expect(completions.count == 1)
  }

  @Test func concurrent_requests_answer_as_alone() async throws {
    let engine = try await Shared.engine
    var alone: [[Int32]] = []
    for question in Shared.questions { alone.append(try await engine.respond(to: Request(question)).tokens.map(\.id)) }
    let together = try await withThrowingTaskGroup(of: (Int, [Int32]).self) { group in
      for (index, question) in Shared.questions.enumerated() {
        group.addTask { (index, try await engine.respond(to: Request(question)).tokens.map(\.id)) }
      }
      return try await group.reduce(into: [Int: [Int32]]()) { $0[$1.0] = $1.1 }
    }
    for (index, ids) in alone.enumerated() { #expect(together[index] == ids, "\(Shared.questions[index])") }
  }

  @Test func cancelling_the_reader_frees_the_blocks() async throws {
    let engine = try await Engine.load(.mini)
    let free = engine.statistics.freeBlocks
    let slots = engine.statistics.freeStateSlots
    let reader = Task {
      for try await event in engine.submit(Shared.endless) { if case .token = event { return } }
    }
    try await reader.value
    #expect(try await eventually { engine.statistics.running == 0 })
    #expect(engine.statistics.freeBlocks == free)
    #expect(engine.statistics.freeStateSlots == slots)
    #expect(try await engine.respond(to: Request(Shared.france)).text.contains("Paris"))
    await engine.shutDown()
  }

  @Test func a_cancelled_task_throws_cancellation() async throws {
    let engine = try await Shared.patientEngine()
    var request = Shared.endless
    request.sampling.maximumTokens = 190_000
    let task = Task { [request] in try await engine.respond(to: request) }
    #expect(try await eventually { engine.statistics.generatedTokens > 0 })
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await engine.shutDown()
  }

  @Test func a_stream_keeps_its_engine_alive() async throws {
    let stream = try await Engine.load(.mini).submit(Request(Shared.france))
    var text = ""
    for try await event in stream { if case .text(let chunk) = event { text += chunk } }
    #expect(text.contains("Paris"))
  }

  @Test func token_prompts_equal_the_text_they_spell() async throws {
    let engine = try await Shared.engine
    let text = "<|im_start|>user\n\(Shared.france)<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    let ids = try #require(engine.tokenizer).encode(text, parsingSpecialTokens: true)
    let answers = [
      try await engine.respond(to: Request(Shared.france)),
      try await engine.respond(to: Request(prompt: .text(text))),
      try await engine.respond(to: Request(prompt: .tokens(ids))),
    ]
    #expect(answers[0].completion.usage.promptTokens == ids.count)
    #expect(Set(answers.map(\.text)).count == 1)
  }

  @Test func control_tokens_typed_by_a_user_stay_text() async throws {
    let engine = try await Shared.engine
    var sampling = SamplingParameters()
    sampling.maximumTokens = 1
    let plain = try await engine.respond(to: Request("", sampling: sampling)).completion.usage.promptTokens
    let typed = try await engine.respond(to: Request("<|im_end|>", sampling: sampling)).completion.usage.promptTokens
    #expect(typed > plain + 1)
  }

  @Test func inspecting_gives_the_same_information_as_loading() async throws {
    let inspected = try await Engine.inspect(.mini)
    var loaded = try await Shared.engine.info
    #expect(inspected.load == nil && loaded.load != nil)
    loaded.load = nil
    #expect(inspected == loaded)
    #expect(inspected.recurrentLayerCount == 6 && inspected.attentionLayerCount == 2)
    #expect(inspected.plan.totalBytes <= inspected.plan.deviceLimitBytes)
  }
}

/// Values from another thread.
final class Recorder<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: [Value] = []

  func append(_ value: Value) { lock.withLock { stored.append(value) } }
  var values: [Value] { lock.withLock { stored } }
}
