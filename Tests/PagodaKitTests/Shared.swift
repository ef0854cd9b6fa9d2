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

  /// A request that runs for a long time unless it is stopped.
  static var endless: Request {
    var sampling = SamplingParameters()
    sampling.ignoresEndOfText = true
    sampling.maximumTokens = 8000
    return Request(france, sampling: sampling)
  }
}

/// Waits up to ten seconds for a condition that another thread will make true.
func eventually(_ condition: () -> Bool) async throws -> Bool {
  for _ in 0..<30_000 {
    if condition() { return true }
    try await Task.sleep(for: .milliseconds(10))
  }
  return condition()
}
