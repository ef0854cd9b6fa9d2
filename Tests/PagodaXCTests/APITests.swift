// The behaviour that a client of PagodaKit relies on: sessions, streams, cancellation, errors, watching.
import PagodaKit
import PagodaMini
import XCTest

final class APITests: XCTestCase {
  func testASessionRemembers() async throws {
    let session = ChatSession(try await Mini.engine)
    _ = try await session.respond(to: "My name is Priya.")
    let answer = try await session.respond(to: "What is my name?")
    XCTAssertTrue(answer.text.contains("Priya"), answer.text)
    XCTAssertGreaterThan(answer.completion.usage.promptTokens, 0)
  }

  func testStreamedTextIsTheWholeAnswer() async throws {
    let engine = try await Mini.engine
    let request = Mini.greedy("What is the capital of Japan?")
    let whole = try await engine.respond(to: request).text
    var streamed = ""
    for try await event in engine.submit(request) { if case .text(let text) = event { streamed += text } }
    XCTAssertEqual(streamed, whole)
  }

  func testALimitEndsAnAnswer() async throws {
    let result = try await Mini.engine.respond(to: Mini.greedy("Tell me a joke", tokens: 3))
    XCTAssertEqual(result.completion.finishReason, .length)
    XCTAssertEqual(result.completion.usage.completionTokens, 3)
  }

  func testAMissingFolderIsNamed() async throws {
    do {
      _ = try await Engine.load(.folder(path: "no/such/folder"))
      XCTFail("the load succeeded")
    } catch let error as PagodaError {
      XCTAssertTrue(error.message.contains("no/such/folder"), error.message)
      XCTAssertEqual(error.localizedDescription, error.message)
    }
  }

  func testAnEngineThatWasShutDownSaysSo() async throws {
    let engine = try await Engine.load(.mini)
    await engine.shutDown()
    do {
      _ = try await engine.respond(to: Mini.greedy("Hello!"))
      XCTFail("it answered")
    } catch PagodaError.shutDown(_) {
    }
  }

  func testAWatchSeesARequestAnswered() async throws {
    let engine = try await Engine.load(.mini)
    var sampling = SamplingParameters()
    sampling.ignoresEndOfText = true
    sampling.maximumTokens = 8000
    let request = Request("Hello!", sampling: sampling)
    let watch = engine.watch()
    XCTAssertEqual(watch.activity.lanes, [])
    var seen: EngineActivity?
    for try await event in engine.submit(request) {
      guard case .token = event, case let activity = watch.activity else { continue }
      guard activity.lanes.first?.state == .answering, activity.steps.contains(where: { $0.answering == 1 }) else {
        continue
      }
      seen = activity
      break
    }
    let lane = try XCTUnwrap(seen?.lanes.first)
    XCTAssertGreaterThan(lane.generatedTokens, 0)
    XCTAssertGreaterThanOrEqual(lane.computedTokens, lane.promptTokens)
    await engine.shutDown()
    XCTAssertEqual(watch.activity.lanes, [])
  }

  func testATypedAnswerHasItsType() async throws {
    struct City: Decodable, Sendable { var name: String }
    let session = ChatSession(try await Mini.engine)
    let city = try await session.respond(to: "What is the capital of France?", generating: City.self)
    XCTAssertFalse(city.value.name.isEmpty)
  }
}
