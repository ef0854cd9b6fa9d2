// One rule for the end of a stream: `finished` exactly once, or an error; leaving the loop cancels.
import Foundation
import PagodaKit
import PagodaMini
import PagodaTesting
import Testing

@Suite struct AnswerStreamTests {
  private static let words = ["a", "b", "c"]

  @Test func elements_arrive_in_order_and_end() async throws {
    let stream = AnswerStream<String> { continuation in
      for word in Self.words { continuation.yield(word) }
      continuation.finish()
      continuation.yield("late")
    }
    var seen: [String] = []
    for try await word in stream { seen.append(word) }
    #expect(seen == Self.words)
  }

  @Test func an_error_comes_after_the_elements_and_once() async throws {
    let stream = AnswerStream<String> { continuation in
      continuation.yield("a")
      continuation.finish(throwing: PagodaError.notFound("x"))
    }
    let iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next() == "a")
    await #expect(throws: PagodaError.notFound("x")) { try await iterator.next() }
    #expect(try await iterator.next() == nil)
  }

  @Test func a_cancelled_reader_gets_an_error_instead_of_an_end() async throws {
    let cancels = Recorder<Bool>()
    let hasElement = Recorder<Bool>()
    let stream = AnswerStream<String> { continuation in
      continuation.yield("a")
      continuation.onCancel { cancels.append(true) }
    }
    let task = Task {
      for try await _ in stream { hasElement.append(true) }
      return "ended"
    }
    #expect(try await eventually { !hasElement.values.isEmpty })
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(cancels.values == [true])
  }

  @Test func a_cancelled_task_finds_its_part_in_the_history() async throws {
    let session = ChatSession(ScriptedEngine(.endless("Once")))
    let task = Task { try await session.respond(to: "?") }
    #expect(try await eventually { session.responseInProgress?.content == "Once" })
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(session.history == [.user("?"), .assistant("Once")] && !session.isResponding)
  }

  @Test func a_stored_stream_is_cancelled_when_its_loop_is_left() async throws {
    let cancels = Recorder<Bool>()
    let stream = AnswerStream<String> { continuation in
      for word in Self.words { continuation.yield(word) }
      continuation.onCancel { cancels.append(true) }
    }
    for try await _ in stream { break }
    #expect(try await eventually { cancels.values == [true] })
    withExtendedLifetime(stream) {}
  }

  @Test func a_stream_that_is_never_read_is_cancelled_when_dropped() {
    let cancels = Recorder<Bool>()
    var stream: AnswerStream<String>? = AnswerStream { $0.onCancel { cancels.append(true) } }
    #expect(stream != nil && cancels.values.isEmpty)
    stream = nil
    #expect(cancels.values == [true])
  }

  /// An engine of its own, and a request that does not end by itself.
  private func endless() async throws -> (Engine, Request) {
    var request = Shared.endless
    request.sampling.maximumTokens = 190_000
    return (try await Shared.patientEngine(), request)
  }

  @Test func cancelling_the_reader_of_events_throws() async throws {
    let (engine, request) = try await endless()
    let ends = Recorder<Completion>()
    let task = Task {
      for try await event in engine.submit(request) { if case .finished(let end) = event { ends.append(end) } }
    }
    #expect(try await eventually { engine.statistics.generatedTokens > 0 })
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(ends.values.isEmpty)
    #expect(try await eventually { engine.statistics.running == 0 })
    await engine.shutDown()
  }

  @Test func shutting_down_fails_what_runs() async throws {
    let (engine, request) = try await endless()
    let answer = Task { try await engine.respond(to: request) }
    let session = ChatSession(engine, sampling: request.sampling)
    let chat = Task { try await session.respond(to: Shared.france) }
    #expect(try await eventually { engine.statistics.running + engine.statistics.waiting == 2 })
    await engine.shutDown()
    for task in [answer, chat] {
      let error = await #expect(throws: PagodaError.self) { try await task.value }
      #expect(error?.code == "shut_down")
    }
    #expect(!session.isResponding && session.history.isEmpty)
    await engine.shutDown()
  }

  @Test func unloading_fails_what_runs() async throws {
    let model = ModelContainer(.mini, options: Shared.patientOptions)
    let engine = try await model.engine()
    var request = Shared.endless
    request.sampling.maximumTokens = 190_000
    let answer = Task { [request] in try await engine.respond(to: request) }
    #expect(try await eventually { engine.statistics.generatedTokens > 0 })
    await model.unload()
    let error = await #expect(throws: PagodaError.self) { try await answer.value }
    #expect(error?.code == "shut_down")
  }

  @Test func stopping_keeps_the_part_and_throws() async throws {
    let (engine, request) = try await endless()
    let session = ChatSession(engine, sampling: request.sampling)
    let stream = session.streamEvents(to: Shared.france)
    let task = Task { for try await _ in stream {} }
    #expect(try await eventually { session.responseInProgress?.content.isEmpty == false })
    session.stop()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!session.isResponding && session.history.map(\.role) == [.user, .assistant])
    #expect(try await eventually { engine.statistics.running == 0 })
    session.stop()  // without effect
    #expect(session.history.count == 2)
    await engine.shutDown()
  }

  @Test func a_stored_stream_stops_generating_after_a_break() async throws {
    let (engine, request) = try await endless()
    let session = ChatSession(engine, sampling: request.sampling)
    let stream = session.streamResponse(to: Shared.france)
    for try await _ in stream { break }
    #expect(try await eventually { !session.isResponding && engine.statistics.running == 0 })
    withExtendedLifetime(stream) {}
    await engine.shutDown()
  }

  @Test func resetting_stops_the_engine() async throws {
    let (engine, request) = try await endless()
    let session = ChatSession(engine, sampling: request.sampling)
    let task = Task { try await session.respond(to: Shared.france) }
    #expect(try await eventually { engine.statistics.generatedTokens > 0 })
    session.reset()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(session.history.isEmpty)
    #expect(try await eventually { engine.statistics.running == 0 })
    await engine.shutDown()
  }
}
