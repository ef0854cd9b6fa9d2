// Golden answers: the embedded model's exact greedy output.
import Foundation
import PagodaKit
import PagodaMini
import XCTest

final class GoldenAnswerTests: XCTestCase {
  private static let golden = [
    "What is the capital of France?": "The capital of France is Paris.",
    "What is 12 plus 30?": "12 + 30 = 42.",
    "Hello!": "Hello! How can I help you?",
    "What is the opposite of hot?": "The opposite of hot is cold.",
    "What sound does a cow make?": "The cow says moo.",
    "What do bees make?": "Bees make honey.",
  ]

  func testAnswersAreTheGoldenOnes() async throws {
    let engine = try await Mini.engine
    for (question, answer) in Self.golden {
      let result = try await engine.respond(to: Mini.greedy(question))
      XCTAssertEqual(result.text, answer, question)
      XCTAssertEqual(result.completion.finishReason, .stop, question)
    }
  }

  func testItNamesWhatPicturesShow() async throws {
    let engine = try await Mini.engine
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
      path: "Fixtures/pictures")
    let seen = [
      "circle.png": "A red circle.", "square.jpg": "A blue square.", "seven.png": "The digit 7 in blue.",
      "two_shapes.png": "A green circle and an orange triangle.", "three_circles.webp": "Three purple circles.",
    ]
    for (file, answer) in seen {
      let picture = try ImageInput(contentsOf: folder.appending(path: file))
      let request = Request(
        messages: [.user("What do you see?", images: [picture])], sampling: Mini.greedy("").sampling)
      let result = try await engine.respond(to: request)
      XCTAssertEqual(result.text, answer, file)
      XCTAssertGreaterThan(result.usage.imageTokens, 15, file)
    }
  }

  func testAnswersAreTheSameBesideOthers() async throws {
    let engine = try await Mini.engine
    try await withThrowingTaskGroup(of: (String, String).self) { group in
      for question in Self.golden.keys {
        group.addTask { (question, try await engine.respond(to: Mini.greedy(question)).text) }
      }
      for try await (question, text) in group { XCTAssertEqual(text, Self.golden[question], question) }
    }
  }

  func testFormsOfTheWeightsAnswer() async throws {
    for form in [EngineOptions.Quantization.eightBit, .fourBit] {
      var options = EngineOptions()
      options.quantize = form
      let engine = try await Engine.load(.mini, options: options)
      let text = try await engine.respond(to: Mini.greedy("What is the capital of France?")).text
      XCTAssertEqual(text, "The capital of France is Paris.", "\(form)")
      await engine.shutDown()
    }
  }
}
