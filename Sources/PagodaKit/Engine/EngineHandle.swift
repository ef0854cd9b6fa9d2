// EngineHandle: owns the core's engine, and the helpers that separate Swift concurrency from C++ threads.
internal import CxxCore
internal import Foundation

/// Owns the core's engine. Streams retain it, so its last owner may be the engine's own thread, which cannot join
/// itself: it is closed on another thread.
final class EngineHandle: Sendable {
  let engine: pagoda.Engine

  init(_ engine: pagoda.Engine) { self.engine = engine }

  deinit {
    let engine = engine
    DispatchQueue.global().async { engine.shut_down() }
  }
}

/// Runs blocking work on its own thread, so that it takes none from the program's tasks. Its stack is as large
/// as a main thread's, because parsers recurse.
func offCooperativePool<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    let thread = Thread { continuation.resume(with: Result(catching: work)) }
    thread.stackSize = 8 << 20
    thread.start()
  }
}
