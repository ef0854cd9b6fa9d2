// BlobFile: a blob being downloaded. Its bytes are hashed on arrival, and it gets its final name only if the hash
// matches.
import Foundation

/// Named `blobs/HASH.incomplete` until it is complete and verified. Used by one thread at a time: its sender before and
/// after the transfer, the connection's queue during it.
final class BlobFile: @unchecked Sendable {
  let file: HubFile
  private let path: String  // of the finished blob
  private let descriptor: Int32
  private var digest: Digest
  private(set) var size: Int64 = 0

  private var incompletePath: String { path + ".incomplete" }

  /// Opens and hashes the partial file of an earlier attempt.
  init(_ file: HubFile, path: String) throws {
    self.file = file
    self.path = path
    digest = Digest(file.hash, size: file.size)
    descriptor = open(path + ".incomplete", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw diskError(path + ".incomplete") }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw diskError(incompletePath) }
    if Int64(info.st_size) > file.size {
      try restart()
    } else {
      try hashContent()
    }
  }

  deinit { close(descriptor) }

  private func hashContent() throws {
    var buffer = Data(count: 1 << 20)
    while true {
      let count = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(size)) }
      guard count >= 0 else { throw diskError(incompletePath) }
      if count == 0 { return }
      digest.add(buffer.prefix(count))
      size += Int64(count)
    }
  }

  var isFull: Bool { size == file.size }

  /// Discards all bytes.
  func restart() throws {
    guard ftruncate(descriptor, 0) == 0 else { throw diskError(incompletePath) }
    digest = Digest(file.hash, size: file.size)
    size = 0
  }

  /// Writes at an explicit offset rather than appending: where a network file system grants one lock to two processes,
  /// both write the same bytes to the same offset.
  func append(_ data: Data) throws {
    guard size + Int64(data.count) <= file.size else {
      throw TransportFailure(message: "more bytes arrived than announced")
    }
    try data.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let count = pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(size) + off_t(done))
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw diskError(incompletePath) }
        done += count
      }
    }
    digest.add(data)
    size += Int64(data.count)
  }

  /// Gives the blob its final name. Returns false and discards all bytes if their hash does not match it.
  func finish() throws -> Bool {
    guard isFull, digest.finish() == file.hash.name else {
      try restart()
      return false
    }
    guard fsync(descriptor) == 0 else { throw diskError(incompletePath) }
    // Another process may have finished the same blob where locks are unreliable; its copy is just as good.
    guard rename(incompletePath, path) == 0 || FileManager.default.fileExists(atPath: path) else {
      throw diskError(path)
    }
    return true
  }
}
