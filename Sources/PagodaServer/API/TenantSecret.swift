// TenantSecret: a keyed hash that separates the cached prefixes of different API keys, also on disk.
import CDigest
import Foundation

/// HMAC-SHA-256 with a secret of this installation: the salt of a key cannot be computed without the key, and a salt
/// reveals nothing about its key.
struct TenantSecret: Sendable {
  private static let byteCount = 32
  let bytes: [UInt8]

  /// A secret that lasts as long as the process.
  init() {
    var generator = SystemRandomNumberGenerator()
    bytes = (0..<Self.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// The secret stored in the folder; created by the first server that needs it.
  init(folder: String) throws {
    let path = folder + "/tenant-secret"
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Self.write(TenantSecret().bytes, to: path)
    } catch {
      throw ServerError("the secret \(path) cannot be written: \(error)")
    }
    guard let data = FileManager.default.contents(atPath: path), data.count == Self.byteCount else {
      throw ServerError("\(path) is not a secret of \(Self.byteCount) bytes; remove it to create a new one")
    }
    bytes = Array(data)
  }

  /// Atomic and without overwriting: two servers that start at the same time agree.
  private static func write(_ bytes: [UInt8], to path: String) throws {
    if access(path, F_OK) == 0 { return }
    let draft = "\(path).\(randomID(""))"
    let file = open(draft, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    guard file >= 0 else { throw ServerError(String(cString: strerror(errno))) }
    defer { unlink(draft) }
    let count = bytes.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
    let isWritten = count == bytes.count && fsync(file) == 0
    close(file)
    guard isWritten, link(draft, path) == 0 || errno == EEXIST else {
      throw ServerError(String(cString: strerror(errno)))
    }
  }

  /// 256 bits in hexadecimal for a key and the request's own salt.
  func salt(key: String, _ added: String) -> String {
    var hash = KeyedHash(bytes)
    hash.add(Array("\(key.utf8.count) \(key) \(added)".utf8)[...])
    return hash.hexadecimal
  }

  /// HMAC-SHA-256.
  static func authenticate(_ message: [UInt8], secret: [UInt8]) -> [UInt8] {
    var hash = KeyedHash(secret)
    hash.add(message[...])
    return hash.value
  }
}

/// HMAC-SHA-256 of a message that arrives in parts.
struct KeyedHash {
  private let key: [UInt8]
  private var inner = SHA256()

  init(_ secret: [UInt8]) {
    let short = secret.count > 64 ? SHA256(of: secret[...]).value : secret
    key = short + [UInt8](repeating: 0, count: 64 - short.count)
    inner.add(key.map { $0 ^ 0x36 }[...])
  }

  mutating func add(_ bytes: ArraySlice<UInt8>) { inner.add(bytes) }

  var value: [UInt8] {
    var outer = SHA256(of: key.map { $0 ^ 0x5C }[...])
    outer.add(inner.value[...])
    return outer.value
  }

  var hexadecimal: String { value.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }

  private struct SHA256 {
    private var digest = pagoda_digest()

    init() { pagoda_digest_begin(&digest, 0) }

    init(of bytes: ArraySlice<UInt8>) {
      self.init()
      add(bytes)
    }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
      bytes.withUnsafeBytes { pagoda_digest_add(&digest, $0.baseAddress, $0.count) }
    }

    var value: [UInt8] {
      var copy = digest
      var out = [UInt8](repeating: 0, count: pagoda_sha256_bytes)
      pagoda_digest_end(&copy, &out)
      return out
    }
  }
}
