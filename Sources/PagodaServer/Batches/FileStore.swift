// FileStore: files that clients upload for batches, and the results of batches, in bounded memory.
import Foundation
import PagodaKit

/// The files of all keys. Nothing is evicted: a file that does not fit is refused. Any thread may use it.
final class FileStore: @unchecked Sendable {
  struct Limits: Sendable {
    var count = 1000  // files of one key
    var bytes = 128 << 20  // of one key
    var allBytes = 512 << 20
  }

  struct File {
    let id: String
    let owner: String  // the name of the client's key; other keys do not see it
    let name: String
    let purpose: String
    let created: Int64  // seconds since 1970
    var expires: Int64?
    var bytes: [UInt8]
    /// Still being written, or the server's own; clients do not see it.
    var isHidden = false
  }

  private let limits: Limits
  private let lock = NSLock()
  // Guarded by `lock`.
  private var files: [String: File] = [:]
  private var order: [String] = []  // the oldest first
  private var sizes: [String: Int] = [:]  // bytes by owner

  init(limits: Limits = Limits()) { self.limits = limits }

  /// Throws if the owner's files, or all of them, would exceed a limit.
  func add(
    _ bytes: [UInt8], name: String, purpose: String, owner: String, lifetime: Int64? = nil, isHidden: Bool = false
  ) throws -> File {
    let created = Int64(Date().timeIntervalSince1970)
    let file = File(
      id: randomID("file-"), owner: owner, name: name, purpose: purpose, created: created,
      expires: lifetime.map { created + $0 }, bytes: bytes, isHidden: isHidden)
    try lock.withLock {
      forgetExpired(created)
      if order.lazy.filter({ self.files[$0]?.owner == owner }).count >= limits.count {
        throw Self.full("this key has \(limits.count) files, the most that are stored; delete some")
      }
      try reserve(bytes.count, owner)
      files[file.id] = file
      order.append(file.id)
    }
    return file
  }

  /// Adds to the end of a file.
  func append(_ bytes: [UInt8], to id: String) throws {
    try lock.withLock {
      guard let owner = files[id]?.owner else { return }
      try reserve(bytes.count, owner)
      files[id]?.bytes += bytes
    }
  }

  /// Requires the lock.
  private func reserve(_ count: Int, _ owner: String) throws {
    if sizes[owner, default: 0] + count > limits.bytes {
      throw Self.full("the files of a key may take \(limits.bytes >> 20) MiB; delete some")
    }
    if sizes.values.reduce(0, +) + count > limits.allBytes {
      throw Self.full("the files of all keys may take \(limits.allBytes >> 20) MiB, and they do")
    }
    sizes[owner, default: 0] += count
  }

  private static func full(_ message: String) -> APIError {
    .invalid(message, param: "file", code: "storage_full", status: 413)
  }

  func show(_ id: String) { lock.withLock { files[id]?.isHidden = false } }

  /// Also a hidden one; nil if it was deleted.
  func content(_ id: String) -> [UInt8]? { lock.withLock { files[id]?.bytes } }

  func find(_ id: String, owner: String) -> File? {
    lock.withLock {
      forgetExpired(Int64(Date().timeIntervalSince1970))
      return files[id].flatMap { $0.owner == owner && !$0.isHidden ? $0 : nil }
    }
  }

  /// The oldest first.
  func list(owner: String) -> [File] {
    lock.withLock {
      forgetExpired(Int64(Date().timeIntervalSince1970))
      return order.compactMap { files[$0] }.filter { $0.owner == owner && !$0.isHidden }
    }
  }

  func remove(_ id: String) { lock.withLock { forget(id) } }

  /// Requires the lock.
  private func forgetExpired(_ now: Int64) {
    for id in order where files[id]?.expires ?? .max <= now { forget(id) }
  }

  /// Requires the lock.
  private func forget(_ id: String) {
    guard let file = files.removeValue(forKey: id) else { return }
    let left = sizes[file.owner, default: 0] - file.bytes.count
    sizes[file.owner] = left > 0 ? left : nil
    order.removeAll { $0 == id }
  }
}

extension FileStore.File {
  var json: JSONValue {
    .object([
      "id": .string(id), "object": .string("file"), "bytes": .integer(Int64(bytes.count)),
      "created_at": .integer(created), "expires_at": expires.map { .integer($0) } ?? .null, "filename": .string(name),
      "purpose": .string(purpose), "status": .string("processed"), "status_details": .null,
    ])
  }
}
