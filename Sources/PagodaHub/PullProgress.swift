// PullProgress: progress of a download: bytes, speed and remaining time.
import Foundation

/// Progress of a download.
public struct PullProgress: Hashable, Sendable {
  /// Bytes on disk, including those of earlier attempts.
  public var bytesDone: Int64 = 0
  /// Total number of bytes.
  public var bytesTotal: Int64 = 0
  /// Files that are complete.
  public var filesDone = 0
  /// Total number of files.
  public var filesTotal = 0
  /// Average over the last five seconds.
  public var bytesPerSecond: Double = 0
  /// The reason the download waits, if it does.
  public var note: String?

  /// Nil while no data arrives.
  public var secondsLeft: Double? {
    bytesPerSecond > 0 ? Double(bytesTotal - bytesDone) / bytesPerSecond : nil
  }

  /// The completed fraction, from 0 to 1.
  public var fraction: Double { bytesTotal > 0 ? Double(bytesDone) / Double(bytesTotal) : 1 }

  /// Creates one from its values, for tests.
  public init(
    bytesDone: Int64 = 0, bytesTotal: Int64 = 0, filesDone: Int = 0, filesTotal: Int = 0, bytesPerSecond: Double = 0,
    note: String? = nil
  ) {
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.filesDone = filesDone
    self.filesTotal = filesTotal
    self.bytesPerSecond = bytesPerSecond
    self.note = note
  }
}

/// Aggregates the progress of several transfers, and calls back at most ten times per second. Thread safe.
final class ProgressMeter: @unchecked Sendable {
  private let lock = NSLock()
  private let report: @Sendable (PullProgress) -> Void
  private var progress = PullProgress()
  private var samples: [(time: Date, bytes: Int64)] = []  // network bytes of the last five seconds
  private var received: Int64 = 0
  private var lastReport = Date.distantPast

  init(files: [HubFile], report: @escaping @Sendable (PullProgress) -> Void) {
    self.report = report
    progress.filesTotal = files.count
    progress.bytesTotal = files.reduce(0) { $0 + $1.size }
  }

  /// Counts bytes received over the network.
  func receive(_ bytes: Int64) {
    change { meter in
      meter.received += bytes
      meter.progress.bytesDone += bytes
      meter.progress.note = nil
    }
  }

  /// Counts bytes that were already present, or (negative) were discarded.
  func adjust(_ bytes: Int64) { change { $0.progress.bytesDone += bytes } }

  func finishFile() { change(always: true) { $0.progress.filesDone += 1 } }

  func note(_ text: String) { change(always: true) { $0.progress.note = text } }

  private func change(always: Bool = false, _ body: (ProgressMeter) -> Void) {
    let now = Date()
    let shown = lock.withLock {
      body(self)
      guard always || now.timeIntervalSince(lastReport) >= 0.1 else { return nil as PullProgress? }
      lastReport = now
      samples.append((now, received))
      samples.removeAll { now.timeIntervalSince($0.time) > 5 }
      if let first = samples.first, now.timeIntervalSince(first.time) > 0.05 {
        progress.bytesPerSecond = Double(received - first.bytes) / now.timeIntervalSince(first.time)
      }
      return progress
    }
    if let shown { report(shown) }
  }
}
