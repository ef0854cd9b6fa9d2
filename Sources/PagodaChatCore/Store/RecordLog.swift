// RecordLog: an append-only file of checksummed records; a torn record left by a killed writer is truncated.
import Foundation

/// Why the store cannot be used.
public struct StoreError: LocalizedError, Hashable, Sendable {
  /// The reason, with the file's name.
  public var message: String
  /// The same, for `localizedDescription`.
  public var errorDescription: String? { message }

  /// An error with a message.
  public init(_ message: InterfaceText) { self.message = localized(message) }
}

/// One line per record: eight hex digits of CRC-32, a space, and the payload, which contains no newline (JSON).
/// Appending is one `write`, so a process killed at any moment leaves whole records and at most one torn one at the
/// end. Not thread safe: guarded by the store's lock.
final class RecordLog {
  private(set) var url: URL
  private let handle: FileHandle
  /// Lines that were neither a record nor the torn end.
  private(set) var damagedRecords = 0

  /// Opens or creates the file, passes each record to `body`, and truncates a torn end.
  init(_ url: URL, body: (Data) throws -> Void) throws {
    self.url = url
    let descriptor = open(url.path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw StoreError("\(url.path) cannot be opened: \(String(cString: strerror(errno)))") }
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    // Two programs writing to one file would each miss the other's changes.
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      throw StoreError("\(url.path) is in use by another running copy of the program")
    }
    let data = try handle.readToEnd() ?? Data()
    var end = 0
    for line in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      let isLast = line.endIndex == data.endIndex
      if isLast { break }  // after the last newline: nothing, or a torn record
      end = line.endIndex + 1
      if let payload = Self.payload(of: line) { try body(payload) } else { damagedRecords += 1 }
    }
    if end < data.count { try handle.truncate(atOffset: UInt64(end)) }
  }

  /// Closing alone may leave the lock behind for a while: a process being started by another thread has a copy of
  /// the descriptor until it has started.
  deinit { flock(handle.fileDescriptor, LOCK_UN) }

  var sizeBytes: Int { (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int) ?? 0 }

  /// Appends records with one write. `durably` also waits for the disk, so that the records survive a power loss;
  /// they survive a crash of the program in any case.
  func append(_ payloads: [Data], durably: Bool) throws {
    var bytes = Data()
    for payload in payloads { bytes += Self.line(payload) }
    try named { try handle.write(contentsOf: bytes) }
    if durably { try synchronize() }
  }

  /// Waits for the disk.
  func synchronize() throws { try named { try handle.synchronize() } }

  private func named(_ work: () throws -> Void) throws {
    do { try work() } catch {
      throw StoreError("\(url.path) cannot be written: \(error.localizedDescription)")
    }
  }

  /// Writes these records to a new file that then replaces the old one: a crash leaves one or the other. Returns the
  /// new file, locked before it got the name.
  @discardableResult
  static func replace(_ url: URL, with payloads: [Data]) throws -> RecordLog {
    let draft = url.appendingPathExtension("new")
    try? FileManager.default.removeItem(at: draft)
    let log = try RecordLog(draft) { _ in }
    try log.append(payloads, durably: true)
    if rename(draft.path, url.path) != 0 {
      throw StoreError("\(url.path) cannot be replaced: \(String(cString: strerror(errno)))")
    }
    log.url = url
    return log
  }

  private static func line(_ payload: Data) -> Data {
    let hex = String(CRC32.of(payload), radix: 16)
    return Data((String(repeating: "0", count: 8 - hex.count) + hex + " ").utf8) + payload + Data("\n".utf8)
  }

  private static func payload(of line: Data) -> Data? {
    guard line.count > 9, let crc = UInt32(String(decoding: line.prefix(8), as: UTF8.self), radix: 16) else {
      return nil
    }
    let payload = line.dropFirst(9)
    return CRC32.of(payload) == crc ? Data(payload) : nil
  }
}

/// The CRC-32 of zip and Ethernet.
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
  }

  static func of(_ data: Data) -> UInt32 {
    ~data.reduce(~UInt32(0)) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ ($0 >> 8) }
  }
}
