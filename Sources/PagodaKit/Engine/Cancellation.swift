// Cancellation: cancels a request, even if the cancellation arrives before the request.
internal import Foundation

final class Cancellation: @unchecked Sendable {
  private let lock = NSLock()
  private var action: (@Sendable () -> Void)?  // guarded by `lock`
  private var wasCalled = false  // guarded by `lock`

  var isCancelled: Bool { lock.withLock { wasCalled } }

  func set(_ action: @escaping @Sendable () -> Void) {
    let isLate = lock.withLock {
      self.action = action
      return wasCalled
    }
    if isLate { action() }
  }

  func cancel() {
    let action = lock.withLock {
      wasCalled = true
      return self.action
    }
    action?()
  }
}
