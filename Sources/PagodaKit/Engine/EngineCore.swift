// EngineCore: owns the core's engine, and the few helpers that keep Swift concurrency and C++ threads apart.
internal import CxxCore
internal import Foundation

/// Owns the core's engine. Streams hold it, so its last owner may be the engine's own thread, which cannot join itself:
/// closing happens on another thread.
final class EngineCore: Sendable {
  let engine: pagoda.Engine

  init(_ engine: pagoda.Engine) { self.engine = engine }

  deinit {
    let engine = engine
    DispatchQueue.global().async { engine.shut_down() }
  }
}

/// Runs blocking work on a thread of its own, so that it takes none from the tasks of the program. Its stack is as large
/// as a main thread's: parsers recurse.
func offCooperativePool<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    let thread = Thread { continuation.resume(with: Result(catching: work)) }
    thread.stackSize = 8 << 20
    thread.start()
  }
}
