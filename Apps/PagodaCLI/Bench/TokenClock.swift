// TokenClock: the arrival times of the tokens of several requests, recorded on the engine's thread.
import Foundation
import PagodaKit

final class TokenClock: @unchecked Sendable {
  private struct Waiter {
    var isDue: (TokenClock) -> Bool
    var continuation: CheckedContinuation<Void, any Error>
  }

  private let lock = NSLock()
  private var seconds: [[Double]]  // by request, since the clock was created
  private var openCount: Int
  private var error: PagodaError?
  private var waiters: [Waiter] = []
  private let begin = DispatchTime.now().uptimeNanoseconds

  init(requestCount: Int) {
    seconds = Array(repeating: [], count: requestCount)
    openCount = requestCount
  }

  /// Queues all requests together.
  func start(_ requests: [Request], on engine: Engine) throws {
    for (index, request) in requests.enumerated() {
      _ = try engine.start(
        request,
        deliver: { [self] in if case .token = $0 { tick(index) } },
        end: { [self] in close($0) })
    }
  }

  /// Returns when every request has its first token.
  func firstTokens() async throws { try await wait { $0.seconds.allSatisfy { !$0.isEmpty } } }

  /// The times of all tokens, after every request has finished.
  func allTokens() async throws -> [[Double]] {
    try await wait { $0.openCount == 0 }
    return lock.withLock { seconds }
  }

  private func tick(_ index: Int) {
    let now = Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
    update { $0.seconds[index].append(now) }
  }

  private func close(_ error: PagodaError?) {
    update {
      $0.openCount -= 1
      $0.error = $0.error ?? error
    }
  }

  private func wait(until isDue: @escaping (TokenClock) -> Bool) async throws {
    try await withCheckedThrowingContinuation { continuation in
      update { $0.waiters.append(Waiter(isDue: isDue, continuation: continuation)) }
    }
  }

  /// Changes the state, then wakes the waiters. A failure wakes all of them.
  private func update(_ change: (TokenClock) -> Void) {
    let (due, failure) = lock.withLock {
      change(self)
      let isDue = waiters.map { error != nil || openCount == 0 || $0.isDue(self) }
      let due = zip(waiters, isDue).filter(\.1).map(\.0)
      waiters = zip(waiters, isDue).filter { !$0.1 }.map(\.0)
      return (due, error)
    }
    for waiter in due {
      if let failure { waiter.continuation.resume(throwing: failure) } else { waiter.continuation.resume() }
    }
  }
}
