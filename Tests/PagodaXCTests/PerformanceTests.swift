// How long a load, a first token and an answer take, with the embedded model; Xcode keeps the baselines.
import PagodaKit
import PagodaMini
import XCTest

final class PerformanceTests: XCTestCase {
  func testLoad() throws {
    measureWork {
      do {
        try blocking { await (try Engine.load(.mini)).shutDown() }
      } catch { XCTFail("\(error)") }
    }
  }

  /// A prompt of about 500 tokens, processed from scratch each time.
  func testFirstToken() throws {
    let engine = try blocking { try await Mini.engine }
    let prompt = String(repeating: "The capital of France is Paris. ", count: 70)
    measureWork {
      do {
        let count = try blocking {
          var request = Mini.greedy(prompt, tokens: 1)
          request.usesPrefixCache = false
          return try await engine.respond(to: request).completion.usage.completionTokens
        }
        XCTAssertEqual(count, 1)
      } catch { XCTFail("\(error)") }
    }
  }

  /// 128 tokens of one answer.
  func testDecode() throws {
    let engine = try blocking { try await Mini.engine }
    measureWork {
      do {
        let count = try blocking {
          var request = Mini.greedy("Hello!", tokens: 128)
          request.sampling.ignoresEndOfText = true
          return try await engine.respond(to: request).completion.usage.completionTokens
        }
        XCTAssertEqual(count, 128)
      } catch { XCTFail("\(error)") }
    }
  }
}
