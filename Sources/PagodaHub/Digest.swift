// Digest: the hash by which a hub names a file, computed incrementally.
import CDigest
import Foundation

/// The expected hash of a file.
enum ExpectedHash: Hashable, Sendable {
  /// Large files: hash of the content.
  case sha256(String)
  /// Files kept in git: hash of "blob SIZE", a zero byte and the content.
  case gitBlob(String)

  var name: String {
    switch self {
    case .sha256(let text), .gitBlob(let text): text
    }
  }

  var kind: String {
    switch self {
    case .sha256: "sha256"
    case .gitBlob: "git sha1"
    }
  }
}

/// An incremental hash of either kind.
struct Digest: Sendable {
  private var state = pagoda_digest()

  init(_ expected: ExpectedHash, size: Int64) {
    switch expected {
    case .sha256: pagoda_digest_begin(&state, 0)
    case .gitBlob:
      pagoda_digest_begin(&state, 1)
      add(Data("blob \(size)\0".utf8))
    }
  }

  mutating func add(_ data: Data) {
    data.withUnsafeBytes { pagoda_digest_add(&state, $0.baseAddress, $0.count) }
  }

  /// The hash in hexadecimal; the digest cannot be used afterwards.
  mutating func finish() -> String {
    var bytes = [UInt8](repeating: 0, count: pagoda_sha256_bytes)
    pagoda_digest_end(&state, &bytes)
    let count = state.is_sha1 != 0 ? pagoda_sha1_bytes : pagoda_sha256_bytes
    let digits = Array("0123456789abcdef")
    return String(bytes.prefix(count).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
