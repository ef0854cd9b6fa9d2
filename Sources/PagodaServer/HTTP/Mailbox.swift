// Mailbox: lets other threads notify the event loop that a connection has something to do.
import Foundation

final class Mailbox: @unchecked Sendable {
  /// Becomes readable when the box is not empty.
  let descriptor: Int32
  private let writing: Int32
  private let lock = NSLock()
  // Guarded by `lock`.
  private var posted: [Connection] = []
  private var isWoken = false
  private var isClosed = false

  /// Nil if there are no more descriptors.
  init?() {
    guard let pair = Sockets.pair() else { return nil }
    (descriptor, writing) = pair
  }

  deinit {
    Foundation.close(descriptor)
    Foundation.close(writing)
  }

  /// May be called from any thread.
  func post(_ connection: Connection) {
    lock.withLock {
      if connection.isPosted || isClosed { return }
      connection.isPosted = true
      posted.append(connection)
      wakeOnce()
    }
  }

  /// May be called from any thread: ends the loop's wait.
  func wake() { lock.withLock { wakeOnce() } }

  /// Called by the loop: the connections posted since the last call, each once.
  func take() -> [Connection] {
    lock.withLock {
      if isWoken {
        isWoken = false
        var bytes: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &bytes) { _ = Sockets.receive(descriptor, into: $0) }
      }
      for connection in posted { connection.isPosted = false }
      defer { posted.removeAll(keepingCapacity: true) }
      return posted
    }
  }

  /// Called by the loop: accepts nothing from now on.
  func close() {
    lock.withLock {
      isClosed = true
      posted = []
    }
  }

  /// Requires the lock; writes one byte until it is taken.
  private func wakeOnce() {
    if isWoken { return }
    isWoken = true
    var byte: UInt8 = 0
    withUnsafeBytes(of: &byte) { _ = Sockets.send(writing, $0) }
  }
}
