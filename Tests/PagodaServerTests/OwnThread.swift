// OwnThread: tests that block get threads of their own, so that they wait neither for each other nor for other targets.
import Foundation
import Testing

/// Runs each test of a suite on a thread of its own, a few at a time. All targets share one process, and its tasks have
/// only as many threads as there are cores: a test that had to wait for one would find that answers have ended which it
/// began, or that deadlines have passed.
struct OwnThread: SuiteTrait, TestTrait, TestScoping {
  /// Whether the current test has a thread of its own, which it may block.
  @TaskLocal static var isUsed = false
  private static let turns = Turns(4)

  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard #available(macOS 15, iOS 18, *) else { return try await function() }
    await Self.turns.take()
    let thread = ThreadExecutor()
    let result: Result<Void, any Error> = await withTaskExecutorPreference(thread) {
      do {
        return .success(try await Self.$isUsed.withValue(true) { try await function() })
      } catch { return .failure(error) }
    }
    thread.end()
    await Self.turns.giveBack()
    try result.get()
  }
}

extension Trait where Self == OwnThread {
  static var ownThread: Self { OwnThread() }
}

/// Lets so many callers through at a time, in their order.
private actor Turns {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  func take() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func giveBack() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}

/// Runs the jobs of a task on one thread.
@available(macOS 15, iOS 18, *)
private final class ThreadExecutor: TaskExecutor, @unchecked Sendable {
  private let condition = NSCondition()
  // Guarded by `condition`.
  private var jobs: [UnownedJob] = []
  private var hasEnded = false

  init() { Thread { [self] in run() }.start() }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    condition.withLock {
      jobs.append(job)
      condition.signal()
    }
  }

  /// Ends the thread when nothing is left to run.
  func end() {
    condition.withLock {
      hasEnded = true
      condition.signal()
    }
  }

  private func run() {
    while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  private func next() -> UnownedJob? {
    condition.withLock {
      while jobs.isEmpty && !hasEnded { condition.wait() }
      return jobs.isEmpty ? nil : jobs.removeFirst()
    }
  }
}
