// Shared by the tests of PagodaKit: one loaded mini model and a few questions with known answers.
import Foundation
import PagodaKit
import PagodaMini

enum Shared {
  private static let loading = Task { try await Engine.load(.mini) }

  /// Loaded once for all tests that do not need an engine of their own.
  static var engine: Engine {
    get async throws { try await loading.value }
  }

  static let france = "What is the capital of France?"

  static let questions = [france, "What is the capital of Japan?", "What is 12 plus 30?", "Hello!"]

  /// An engine whose answers may be so long that even a test that waits long for a thread finds them unfinished.
  static func patientEngine() async throws -> Engine { try await Engine.load(.mini, options: patientOptions) }

  static let patientOptions = EngineOptions(
    ropeScaling: .linear(factor: 32), maximumSequences: 1, maximumModelLength: 200_000)

  /// A request that runs for a long time unless it is stopped.
  static var endless: Request {
    var sampling = SamplingParameters()
    sampling.ignoresEndOfText = true
    sampling.maximumTokens = 8000
    return Request(france, sampling: sampling)
  }
}

/// Waits up to five minutes for a condition that another thread will make true.
func eventually(_ condition: () -> Bool) async throws -> Bool {
  let end = ContinuousClock.now + .seconds(300)
  while !condition() {
    if ContinuousClock.now > end { return condition() }
    try await Task.sleep(for: .milliseconds(10))
  }
  return true
}
