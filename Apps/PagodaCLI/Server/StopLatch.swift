// StopLatch: waits for the signal that ends pagoda serve.
import Foundation

/// Waits for the first SIGINT or SIGTERM; a second one ends the program.
func stopLatch() -> StopLatch {
  let latch = StopLatch()
  Interrupts.shared.onInterrupt { latch.signal() }
  signal(SIGTERM, SIG_IGN)  // before the source, which sets a handler of its own
  let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
  source.setEventHandler { latch.signal() }
  source.resume()
  latch.keep(source)
  return latch
}

final class StopLatch: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0
  private var waiter: CheckedContinuation<Void, Never>?
  private var source: (any DispatchSourceSignal)?

  func keep(_ source: any DispatchSourceSignal) { lock.withLock { self.source = source } }

  func signal() {
    let waiter: CheckedContinuation<Void, Never>? = lock.withLock {
      count += 1
      if count > 1 { _exit(130) }
      defer { self.waiter = nil }
      return self.waiter
    }
    waiter?.resume()
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isSignalled = lock.withLock {
        if count == 0 { waiter = continuation }
        return count > 0
      }
      if isSignalled { continuation.resume() }
    }
  }
}
