// FileLock: lets one process at a time fetch a blob; the same lock file and the same kind of lock as huggingface_hub.
import Foundation

/// An exclusive lock on a file, held until the value is released or the process ends, however it ends.
final class FileLock: Sendable {
  private let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Nil when somebody else holds it.
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

  /// Waits for as long as it takes; `onWait` is called once when it has to.
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
