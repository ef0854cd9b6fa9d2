// LogWriter: lines for a file or a pipe, written by a separate thread. Their reader may stall; the server must not.
import Foundation

/// A log that never blocks its callers: lines that its reader does not take in time are dropped and counted.
package final class LogWriter: @unchecked Sendable {
  private let file: Int32
  private let isOwner: Bool
  private let maximumBytes: Int
  private let condition = NSCondition()
  // Guarded by `condition`.
  private var pending: [UInt8] = []
  private var isWriting = false
  private var isClosed = false
  private var newlyDropped = 0  // lines, since the last accepted one
  private var dropped = 0

  /// Writes to an open file, which stays the caller's.
  package init(file: Int32, maximumBytes: Int = 1 << 20) {
    self.file = file
    isOwner = false
    self.maximumBytes = maximumBytes
    start()
  }

  /// Appends to a file, which is created if necessary; only its owner may read it.
  package init(path: String, maximumBytes: Int = 1 << 20) throws {
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    if file < 0 { throw ServerError("\(path) cannot be written: \(String(cString: strerror(errno)))") }
    isOwner = true
    self.maximumBytes = maximumBytes
    start()
  }

  /// Lines that were not written.
  package var droppedLines: Int { condition.withLock { dropped } }

  /// Any thread; returns immediately.
  package func write(_ line: String) {
    condition.withLock {
      if isClosed || pending.count + line.utf8.count + 1 > maximumBytes {
        newlyDropped += 1
        dropped += 1
        return
      }
      if newlyDropped > 0 {
        pending += "{\"dropped_lines\":\(newlyDropped)}\n".utf8
        newlyDropped = 0
      }
      pending += line.utf8
      pending.append(UInt8(ascii: "\n"))
      condition.signal()
    }
  }

  /// Accepts no more lines, and allows this many seconds for writing the queued ones.
  package func close(within seconds: Double = 1) {
    let end = Date(timeIntervalSinceNow: seconds)
    condition.withLock {
      isClosed = true
      condition.broadcast()
      while (isWriting || !pending.isEmpty) && condition.wait(until: end) {}
    }
  }

  private func start() {
    let thread = Thread { [self] in run() }
    thread.name = "pagoda-log"
    thread.start()
  }

  private func run() {
    while true {
      let bytes: [UInt8]? = condition.withLock {
        isWriting = false
        condition.broadcast()
        while pending.isEmpty && !isClosed { condition.wait() }
        if pending.isEmpty { return nil }
        defer { pending = [] }
        isWriting = true
        return pending
      }
      guard let bytes, writeAll(bytes) else { break }
    }
    condition.withLock {
      isClosed = true
      isWriting = false
      pending = []
      condition.broadcast()
    }
    if isOwner { Foundation.close(file) }
  }

  /// Blocks while the reader is slow. False if the reader is gone.
  private func writeAll(_ bytes: [UInt8]) -> Bool {
    var start = 0
    while start < bytes.count {
      let count = bytes.withUnsafeBytes { Foundation.write(file, $0.baseAddress! + start, $0.count - start) }
      if count > 0 {
        start += count
      } else if count < 0 && errno == EAGAIN {
        var entry = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, 1000)
      } else if count < 0 && errno != EINTR {
        return false
      }
    }
    return true
  }
}
