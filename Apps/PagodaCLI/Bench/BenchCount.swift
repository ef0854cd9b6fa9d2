// BenchCount: the host's work per step on a device that launches kernels, and the bytes that the kernels move.
import Foundation
import PagodaKit

package struct BenchCount: Sendable {
  package var test: BenchTest
  package var launchesPerStep: Double
  package var layerCount: Int
  package var bytesPerToken: Double
  /// The minimum bytes moved per token.
  package var leastBytesPerToken: Double
  package var encodeSecondsPerStep: Double

  /// Computes the values from the device's counts in one run of the test; nil if it launches nothing.
  package init?(_ test: BenchTest, times: [OpTime], leastBytes: Double, layerCount: Int) {
    // The time on the device, and barriers between launches, where they are reported.
    let times = times.filter { $0.name != "step" && $0.name != "barrier" }
    // Each step looks up its tokens in one launch.
    guard let steps = times.first(where: { $0.name == "embedding" })?.calls, steps > 0 else { return nil }
    let tokens =
      if case .prefill(let tokens) = test.kind { Double(tokens) } else { Double(steps) * Double(test.sequences) }
    self.test = test
    self.layerCount = layerCount
    launchesPerStep = Double(times.reduce(0) { $0 + $1.calls }) / Double(steps)
    bytesPerToken = times.reduce(0) { $0 + $1.bytes } / tokens
    leastBytesPerToken = leastBytes
    encodeSecondsPerStep = times.reduce(0) { $0 + $1.seconds } / Double(steps)
  }

  package var cells: [String] {
    [
      test.name, String(format: "%.0f", launchesPerStep),
      String(format: "%.1f", launchesPerStep / Double(max(layerCount, 1))),
      String(format: "%.3f", bytesPerToken / 1e6), String(format: "%.2f", bytesPerToken / max(leastBytesPerToken, 1)),
      String(format: "%.0f", encodeSecondsPerStep * 1e6),
    ]
  }

  static let table = BenchTable(columns: [
    ("test", 12), ("launches/step", 13), ("per layer", 9), ("MB/token", 9), ("x least", 7), ("encode us/step", 14),
  ])
}

extension BenchRunner {
  /// Runs each test once and prints the device's counts.
  func printCounts(_ tests: [BenchTest]) async throws {
    Terminal.write(fittingLine(engine.info.device) + "\n\n" + BenchCount.table.heading())
    for test in tests {
      let cost = BenchCost(test, on: engine.info, repetitions: repetitions)
      let count = BenchCount(
        test, times: try await counts(test), leastBytes: cost.bytes, layerCount: engine.info.layerCount)
      guard let count else {
        throw CommandFailure("--count is for devices that launch kernels, not \(engine.info.device)")
      }
      Terminal.write(BenchCount.table.line(count.cells))
    }
  }
}
