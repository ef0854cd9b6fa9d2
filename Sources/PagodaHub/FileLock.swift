// FileLock: lets one process at a time download a blob; uses the same lock file and kind of lock as huggingface_hub.
import Foundation

/// An exclusive file lock, held until this object is released or the process ends for any reason.
final class FileLock: Sendable {
  private let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Returns nil if another process holds the lock.
  static func attempt(_ path: String) throws -> FileLock? {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o664)
    guard descriptor >= 0 else { throw diskError(path) }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return FileLock(descriptor: descriptor) }
    let reason = errno
    close(descriptor)
    if reason == EWOULDBLOCK { return nil }
    errno = reason
    throw diskError(path)
  }

  /// Waits indefinitely; `onWait` is called once if it has to wait.
  static func acquire(_ path: String, onWait: () -> Void) async throws -> FileLock {
    try makeFolder((path as NSString).deletingLastPathComponent)
    var hasWaited = false
    while true {
      if let lock = try attempt(path) { return lock }
      if !hasWaited { onWait() }
      hasWaited = true
      try await Task.sleep(for: .milliseconds(100))
    }
  }
}
