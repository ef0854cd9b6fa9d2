// StreamBody: the body of an event stream. The engine's thread puts events in, the event loop writes them out.
import Foundation

/// An item of a stream.
enum StreamItem: Sendable {
  case event(choice: Int, StreamEvent)
  /// Text for the client, sent unchanged.
  case text(String)
  /// Nothing has been sent for a while.
  case keepAlive
  /// The server is shutting down and cuts the stream.
  case cut
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
  private var isClosed = false  // the client has disconnected, or is too slow
  private var onItem: (@Sendable () -> Void)?

  // Used only by the event loop.
  private var lastText = monotonicSeconds()
  private var encoder: any StreamEncoder
  private var opening: String?
  private(set) var isComplete = false

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
      if isClosed { return (false, nil) }
      pending.append(item)
      if pending.count > maximumPending {
        isClosed = true
        pending = []
      }
      return (isClosed, pending.count <= 1 ? onItem : nil)
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
        if case .keepAlive = item { lastText = monotonicSeconds() }  // even if the encoder has no text for it
      }
    }
    lastText = monotonicSeconds()
    return text
  }
}

/// Seconds of a monotonic clock.
func monotonicSeconds() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }
