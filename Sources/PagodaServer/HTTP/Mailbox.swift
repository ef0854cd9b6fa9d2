// Mailbox: how other threads tell the event loop that a connection has something to do.
import Foundation

final class Mailbox: @unchecked Sendable {
  /// Becomes readable when there is something in the box.
  let descriptor: Int32
  private let writing: Int32
  private let lock = NSLock()
  // Guarded by `lock`.
  private var posted: [Connection] = []
  private var isWoken = false
  private var isClosed = false

  /// Nil when there are no more descriptors.
  init?() {
    guard let pair = Sockets.pair() else { return nil }
    (descriptor, writing) = pair
  }

  deinit {
    Foundation.close(descriptor)
    Foundation.close(writing)
  }

  /// Any thread.
  func post(_ connection: Connection) {
    lock.withLock {
      if connection.isPosted || isClosed { return }
      connection.isPosted = true
      posted.append(connection)
      wakeOnce()
    }
  }

  /// Any thread: ends the loop's wait.
  func wake() { lock.withLock { wakeOnce() } }

  /// Of the loop: what has been posted since, each once.
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

  /// Of the loop: nothing is taken any more.
  func close() {
    lock.withLock {
      isClosed = true
      posted = []
    }
  }

  /// Under the lock; one byte until it is taken.
  private func wakeOnce() {
    if isWoken { return }
    isWoken = true
    var byte: UInt8 = 0
    withUnsafeBytes(of: &byte) { _ = Sockets.send(writing, $0) }
  }
}
