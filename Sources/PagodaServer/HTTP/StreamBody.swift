// StreamBody: the body of an event stream. The engine's thread puts events in, the event loop writes them out.
import Foundation

/// An item of a stream.
enum StreamItem: Sendable {
  case event(choice: Int, StreamEvent)
  /// Text for the client, sent unchanged.
  case text(String)
  /// Nothing has been sent for a while.
  case keepAlive
  /// The stream ends early, with an error event that says why.
  case cut(APIError)
}

/// Turns items into text for the wire. Used by one thread at a time.
protocol StreamEncoder {
  /// Bytes before the first item.
  mutating func opening() -> String
  /// Empty if there is nothing to send; `isLast` after the closing text.
  mutating func encode(_ item: StreamItem) -> (text: String, isLast: Bool)
}

final class StreamBody: @unchecked Sendable {
  /// Items encoded at a time, so that a stream with a backlog does not delay the others.
  private static let batch = 64

  private let lock = NSLock()
  // Guarded by `lock`.
  private var pending: [StreamItem] = []
  private var isClosed = false  // the client has disconnected
  private var isFull = false  // the client was too slow; only the error that says so is left to send
  private var onItem: (@Sendable () -> Void)?

  // Used only by the event loop.
  private var lastText = monotonicSeconds()
  private var encoder: any StreamEncoder
  private var opening: String?
  private(set) var isComplete = false
  private(set) var wasCut = false  // it ended with an error event of the server

  private let maximumPending: Int
  private let onOverflow: @Sendable () -> Void

  /// `onOverflow` is called once when the reader falls too far behind.
  init(_ encoder: some StreamEncoder, maximumPending: Int, onOverflow: @escaping @Sendable () -> Void) {
    var encoder: any StreamEncoder = encoder
    opening = encoder.opening()
    self.encoder = encoder
    self.maximumPending = maximumPending
    self.onOverflow = onOverflow
  }

  /// May be called from any thread; never waits for the client.
  func push(_ item: StreamItem) {
    let (overflows, wake) = lock.withLock { () -> (Bool, (@Sendable () -> Void)?) in
      if isClosed || isFull { return (false, nil) }
      pending.append(item)
      if pending.count > maximumPending {
        isFull = true
        pending = [.cut(.tooSlow)]
      }
      return (isFull, pending.count <= 1 ? onItem : nil)
    }
    wake?()
    if overflows { onOverflow() }
  }

  /// Ends the stream without further text.
  func close() {
    let wake = lock.withLock {
      isClosed = true
      pending = []
      return onItem
    }
    wake?()
  }

  /// Called, on any thread, whenever there is something new to read.
  func attach(_ onItem: @escaping @Sendable () -> Void) { lock.withLock { self.onItem = onItem } }

  /// Whether it ended without its closing text.
  var isBroken: Bool { lock.withLock { isClosed } && !isComplete }

  /// Used by the event loop: since when there has been nothing to send; nil while there is something.
  var silentSince: Double? { lock.withLock { pending.isEmpty } ? lastText : nil }

  /// The next text for the client; nil if there is none now, or never again (`isComplete`, `isBroken`).
  func read() -> String? {
    if isComplete { return nil }
    var text = opening ?? ""
    opening = nil
    while text.isEmpty && !isComplete {
      let items: [StreamItem] = lock.withLock {
        let items = Array(pending.prefix(Self.batch))
        pending.removeFirst(items.count)
        return items
      }
      if items.isEmpty { return nil }
      for item in items where !isComplete {
        let (chunk, isLast) = encoder.encode(item)
        text += chunk
        isComplete = isLast
        if case .cut = item { wasCut = true }
        if case .keepAlive = item { lastText = monotonicSeconds() }  // even if the encoder has no text for it
      }
    }
    lastText = monotonicSeconds()
    return text
  }
}

/// Seconds of a monotonic clock.
func monotonicSeconds() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }
