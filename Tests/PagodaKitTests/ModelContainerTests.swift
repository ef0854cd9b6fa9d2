// A model on demand: shared loading, unloading, estimates; and sessions: saving, warming up, and answers as values.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@Suite struct ModelContainerTests {
  @Test func callers_at_the_same_time_share_one_load() async throws {
    let model = ModelContainer(.mini)
    #expect(await !model.isLoaded)
    async let first = model.engine()
    async let second = model.engine()
    #expect(try await first === second)
    #expect(await model.isLoaded)
    #expect(try await model.session().respond(to: Shared.france).text.contains("Paris"))
    await model.unload()
    #expect(await !model.isLoaded)
    let ended = try await first
    await #expect(throws: PagodaError.self) { try await ended.respond(to: Request("x")) }
    try await model.preload()
    #expect(try await model.engine() !== ended)
    await model.unload()
  }

  @Test func availability_has_the_memory_or_the_reason() async throws {
    let plan = try await ModelContainer(.mini).memoryEstimate()
    #expect(await ModelContainer(.mini).availability() == .available(plan))
    #expect(plan.totalBytes > 0)
    guard case .unavailable(let error) = await ModelContainer(.folder(path: "/no/such/model")).availability() else {
      Issue.record("a missing folder is available")
      return
    }
    #expect(error.code == "not_found")
  }

  /// A model that is downloaded by writing `path`; `fetches` counts.
  private func downloadable(_ path: Recorder<String>, _ fetches: Recorder<Bool>) -> ModelSource {
    .fetched(
      FetchedModel(name: "org/model", location: { path.values.last }, size: { 123 }) { progress in
        fetches.append(true)
        progress(1)
        path.append("/no/such/model")
        return "/no/such/model"
      })
  }

  @Test func only_fetching_and_loading_download() async throws {
    let (path, fetches) = (Recorder<String>(), Recorder<Bool>())
    let model = ModelContainer(downloadable(path, fetches))
    #expect(await model.availability() == .notDownloaded(bytes: 123))
    let estimate = await #expect(throws: PagodaError.self) { try await model.memoryEstimate() }
    #expect(estimate?.message.contains("org/model") == true)
    await #expect(throws: PagodaError.self) { try await Engine.inspect(model.source) }
    #expect(fetches.values.isEmpty)
    let seen = Recorder<LoadProgress>()
    try await model.fetch { seen.append($0) }
    #expect(fetches.values.count == 1 && seen.values == [LoadProgress(phase: .fetching, fraction: 1)])
    guard case .unavailable(let error) = await model.availability() else {
      Issue.record("a missing folder is available")
      return
    }
    #expect(error.code == "not_found" && fetches.values.count == 1)
  }

  @Test func an_idle_model_can_be_unloaded_under_memory_pressure() async throws {
    let model = ModelContainer(.mini, options: Shared.patientOptions)
    #expect(await !model.unloadIfIdle())
    let engine = try await model.engine()
    let answer = Task { try await engine.respond(to: Shared.endless) }
    #expect(try await eventually { engine.statistics.running == 1 })
    #expect(await !model.unloadIfIdle())
    answer.cancel()
    _ = await answer.result
    #expect(try await eventually { engine.statistics.running == 0 })
    #expect(await model.unloadIfIdle())
    #expect(await !model.isLoaded)
  }

  @Test func a_failed_download_has_its_own_error() async throws {
    struct Unreachable: LocalizedError { var errorDescription: String? { "the hub cannot be reached" } }
    let model = ModelContainer(.fetched(FetchedModel(name: "org/model") { _ in throw Unreachable() }))
    let expected = PagodaError.fetchFailed("org/model: the hub cannot be reached")
    await #expect(throws: expected) { try await model.engine() }
    await #expect(throws: expected) { try await model.fetch() }
    #expect(await model.availability() == .notDownloaded(bytes: nil))
  }

  @Test func a_saved_session_can_be_continued() async throws {
    let engine = try await Shared.engine
    let session = ChatSession(engine, instructions: "Answer briefly.")
    _ = try await session.respond(to: "Hi, my name is Anna.")
    let data = try JSONEncoder().encode(session.transcript)
    let restored = ChatSession(engine, transcript: try JSONDecoder().decode(Transcript.self, from: data))
    #expect(restored.transcript == session.transcript)
    #expect(try await restored.respond(to: "What is my name?").text.contains("Anna"))
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
    let schema = JSONSchema.object([.init("capital", .string(maximumLength: 20))])
    let answer = try await session.respond(to: Shared.france, generating: Answer.self, schema: schema)
    #expect(!answer.value.capital.isEmpty && answer.response.usage.completionTokens > 0)
    #expect(session.history.count == 2)
  }

  @Test func a_load_reports_its_progress_to_all_waiting_callers() async throws {
    let model = ModelContainer(.mini)
    let seen = [Recorder<LoadProgress>(), Recorder<LoadProgress>()]
    async let first = model.engine { seen[0].append($0) }
    async let second = model.engine { seen[1].append($0) }
    let info = try await (first, second).0.info
    let late = Recorder<LoadProgress>()  // the model is already loaded
    _ = try await model.engine { late.append($0) }
    for recorder in seen + [late] {
      let last = try #require(recorder.values.last)
      #expect(last.phase == .loading && last.fraction == 1 && last.loadedBytes == last.totalBytes)
      #expect(last.totalBytes == info.allMatrices.bytes && last.totalBytes > 0)
    }
    let load = try #require(info.load)
    #expect(load.weightsBytes == info.plan.weightsBytes && load.seconds > 0)
    #expect(try await Engine.inspect(.mini).load == nil)
    await model.unload()
  }

  @Test func a_load_is_cancelled_with_its_last_caller() async throws {
    let fetches = Recorder<String>()
    let source = ModelSource.fetched(
      FetchedModel(name: "slow") { progress in
        progress(0.5)
        fetches.append("begun")
        do { try await Task.sleep(for: .seconds(600)) } catch { fetches.append("cancelled") }
        throw CancellationError()
      })
    let model = ModelContainer(source)
    let callers = (0..<2).map { _ in Task { try await model.engine() } }
    #expect(try await eventually { fetches.values == ["begun"] })
    callers[0].cancel()
    await #expect(throws: CancellationError.self) { try await callers[0].value }
    #expect(fetches.values == ["begun"])
    callers[1].cancel()
    await #expect(throws: CancellationError.self) { try await callers[1].value }
    #expect(try await eventually { fetches.values == ["begun", "cancelled"] })
    #expect(await !model.isLoaded)
  }

  @Test func unloading_ends_a_load() async throws {
    let source = ModelSource.fetched(
      FetchedModel(name: "slow") { _ in
        try await Task.sleep(for: .seconds(600))
        return "/no/such/model"
      })
    let model = ModelContainer(source)
    let caller = Task { try await model.engine() }
    var hasBegun = false
    while !hasBegun {
      hasBegun = await model.isLoading
      await Task.yield()
    }
    await model.unload()
    let error = await #expect(throws: PagodaError.self) { try await caller.value }
    #expect(error?.code == "shut_down")
  }

  @Test func a_cancelled_load_stops_reading_weights() async throws {
    let seen = Recorder<Double>()
    let cancelled = DispatchSemaphore(value: 0)  // blocks the loader's own thread
    let task = Task {
      try await Engine.load(.mini) { progress in
        seen.append(progress.fraction)
        if seen.values.count == 1 { cancelled.wait() }
      }
    }
    #expect(try await eventually { seen.values.count == 1 })
    task.cancel()
    cancelled.signal()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(seen.values.count == 1)
  }
}
