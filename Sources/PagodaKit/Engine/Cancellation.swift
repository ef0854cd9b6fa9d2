// Cancellation: cancels a request, even if the cancellation arrives before the request.
internal import Foundation

final class Cancellation: @unchecked Sendable {
  private let lock = NSLock()
  private var action: (@Sendable () -> Void)?  // guarded by `lock`
  private var isCancelled = false  // guarded by `lock`

  func set(_ action: @escaping @Sendable () -> Void) {
    let isLate = lock.withLock {
      self.action = action
      return isCancelled
    }
    if isLate { action() }
  }

  func cancel() {
    let action = lock.withLock {
      isCancelled = true
      return self.action
    }
    action?()
  }
}
