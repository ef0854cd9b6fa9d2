// StreamBody: the body of an event stream. The engine's thread puts events in, the connection's thread writes them out.
import CMicroHTTPD
import Foundation

/// What a stream is made of.
enum StreamItem: Sendable {
  case event(choice: Int, StreamEvent)
  /// Nothing has been sent for a while.
  case keepAlive
  /// The server is shutting down and cuts the stream.
  case cut
}

/// Turns items into text for the wire. Used by one thread at a time.
protocol StreamEncoder {
  /// What comes before the first item.
  mutating func opening() -> String
  /// Empty when there is nothing to say; `isLast` after the closing words.
  mutating func encode(_ item: StreamItem) -> (text: String, isLast: Bool)
}

final class StreamBody: @unchecked Sendable {
  private let lock = NSLock()
  // Guarded by `lock`.
  private var pending: [StreamItem] = []
  private var isClosed = false  // the client is gone, or too slow
  private var suspended: OpaquePointer?  // the connection, while it waits for items
  private var lastWrite = monotonicSeconds()

  // Of the connection's thread.
  private var encoder: any StreamEncoder
  private var bytes: [UInt8]
  private var sent = 0
  private var isComplete = false

  private let maximumPending: Int
  private let onOverflow: @Sendable () -> Void

  /// `onOverflow` is called once when the reader falls too far behind.
  init(_ encoder: some StreamEncoder, maximumPending: Int, onOverflow: @escaping @Sendable () -> Void) {
    var encoder: any StreamEncoder = encoder
    bytes = Array(encoder.opening().utf8)
    self.encoder = encoder
    self.maximumPending = maximumPending
    self.onOverflow = onOverflow
  }

  /// Any thread; never waits for the client.
  func push(_ item: StreamItem) {
    let overflows = lock.withLock {
      if isClosed { return false }
      pending.append(item)
      if pending.count > maximumPending {
        isClosed = true
        pending = []
      }
      wake()
      return isClosed
    }
    if overflows { onOverflow() }
  }

  /// Ends the stream without further words.
  func close() {
    lock.withLock {
      isClosed = true
      pending = []
      wake()
    }
  }

  /// Seconds since something was last written.
  func silence(at now: Double) -> Double { lock.withLock { pending.isEmpty ? now - lastWrite : 0 } }

  /// Under the lock.
  private func wake() {
    guard let connection = suspended else { return }
    suspended = nil
    MHD_resume_connection(connection)
  }

  /// Fills `buffer` and returns how much, 0 when the connection is suspended now, or one of the library's end marks.
  func read(into buffer: UnsafeMutableRawBufferPointer, connection: OpaquePointer) -> Int {
    while sent == bytes.count {
      if isComplete { return Int(MHD_CONTENT_READER_END_OF_STREAM) }
      let items: [StreamItem]? = lock.withLock {
        if isClosed { return nil }
        if pending.isEmpty {
          suspended = connection
          MHD_suspend_connection(connection)
          return []
        }
        defer { pending = [] }
        return pending
      }
      guard let items else { return Int(MHD_CONTENT_READER_END_WITH_ERROR) }
      if items.isEmpty { return 0 }
      encode(items)
    }
    let count = min(buffer.count, bytes.count - sent)
    bytes.withUnsafeBytes { buffer.copyMemory(from: .init(rebasing: $0[sent..<(sent + count)])) }
    sent += count
    lock.withLock { lastWrite = monotonicSeconds() }
    return count
  }

  private func encode(_ items: [StreamItem]) {
    var text = ""
    for item in items where !isComplete {
      let (piece, isLast) = encoder.encode(item)
      text += piece
      isComplete = isLast
    }
    bytes = Array(text.utf8)
    sent = 0
  }
}

/// Seconds of a clock that never jumps.
func monotonicSeconds() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }
