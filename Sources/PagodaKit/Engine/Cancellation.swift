// Cancellation: what cancels a request, where the request and the wish to cancel it may come in any order.
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
