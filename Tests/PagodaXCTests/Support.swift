// Shared by the XCTest cases: one loaded mini model, and a bridge from async work to measure blocks.
import Foundation
import PagodaKit
import PagodaMini
import XCTest

enum Mini {
  private static let loading = Task { try await Engine.load(.mini) }

  /// Loaded once for all cases that do not need a separate engine.
  static var engine: Engine {
    get async throws { try await loading.value }
  }

  /// Greedy, with this many tokens at most.
  static func greedy(_ question: String, tokens: Int? = nil) -> Request {
    var sampling = SamplingParameters()
    sampling.temperature = 0
    sampling.maximumTokens = tokens
    return Request(question, sampling: sampling)
  }
}

/// The result that `blocking` hands from one thread to the other.
private final class Box<Value>: @unchecked Sendable { var result: Result<Value, any Error>? }

/// Waits for async work on the calling thread, as a measure block must.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
  let box = Box<Value>()
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    do { box.result = .success(try await work()) } catch { box.result = .failure(error) }
    done.signal()
  }
  done.wait()
  return try XCTUnwrap(box.result).get()
}

extension XCTestCase {
  /// Xcode shows clock, CPU and memory with its baselines. Elsewhere the times are printed: XCTest's own measure fails
  /// there when they differ by more than 10 %, as they do on a busy machine.
  func measureWork(_ block: () -> Void) {
    #if canImport(ObjectiveC)
    measure(metrics: [XCTClockMetric(), XCTCPUMetric(), XCTMemoryMetric()], block: block)
    #else
    let times = (0..<5).map { _ in
      let start = ContinuousClock.now
      block()
      let time = (ContinuousClock.now - start).components
      return Double(time.seconds) + Double(time.attoseconds) / 1e18
    }
    let texts = times.sorted().map { String(format: "%.3f", $0) }
    print("\(name) took \(texts.joined(separator: ", ")) s")
    #endif
  }
}
