// PrefixSharing: shares the prefix files of an engine with other servers of the same model.
import Foundation

/// Prefix files shared among servers of one model.
///
/// The servers need the same model files, the same build, and processors that compute the same bits: files of any other
/// server are never found. They trust each other, and authenticate by a secret.
///
/// ```swift
/// options.prefixSharing = PrefixSharing(folder: "/cache/prefixes", secretFile: "/etc/pagoda/secret")
/// ```
public struct PrefixSharing: Sendable {
  /// The engine's folder of prefix files: `EngineOptions.prefixCacheFolder`.
  public var folder: String
  /// A file with at least 32 bytes, the same for all servers. It replaces the folder's own secret.
  public var secretFile: String
  /// The other servers, as `http://host:port`; empty for a server that only provides files.
  public var peers: [String]
  /// Maximum time of a transfer, as a share of the time to compute the same tokens: the most that a useless one costs.
  public var maximumShare = 0.25

  /// Shares the files of a folder.
  public init(folder: String, secretFile: String, peers: [String] = []) {
    self.folder = folder
    self.secretFile = secretFile
    self.peers = peers
  }

  func secret() throws -> TenantSecret {
    guard let data = FileManager.default.contents(atPath: secretFile) else {
      throw ServerError("the secret \(secretFile) cannot be read")
    }
    guard data.count >= 32 else {
      throw ServerError("\(secretFile) has \(data.count) bytes; a secret needs 32 or more")
    }
    return TenantSecret(bytes: TenantSecret.authenticate(Array(data), secret: Array("pagoda prefixes".utf8)))
  }

  /// Whether a name from a request can be one of the engine's files, and nothing else in the file system.
  static func isFileName(_ name: String) -> Bool {
    let suffix = ".pagoda-prefix"
    guard name.hasSuffix(suffix), name.utf8.count == 32 + suffix.utf8.count else { return false }
    return name.utf8.prefix(32).allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
    }
  }
}

extension TenantSecret {
  /// Proves to another server that this one has the secret.
  var peerToken: String { salt(key: "", "peer") }

  /// Begins the keyed hash of a part of a prefix file, which is sent with it: the token crosses the network in a header,
  /// so a machine on the way knows it, but cannot make this hash.
  func partHash(of name: String, _ range: Range<Int>, fileBytes: Int) -> KeyedHash {
    var hash = KeyedHash(bytes)
    hash.add(Array("part \(name) \(range.lowerBound) \(range.upperBound) \(fileBytes)\n".utf8)[...])
    return hash
  }
}
