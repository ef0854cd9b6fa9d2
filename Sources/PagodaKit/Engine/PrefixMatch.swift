// PrefixMatch: how much of a prompt an engine has cached, and the files that contain it.
internal import CxxCore

/// How much of a prompt an engine has in memory, for programs that choose among several engines.
public struct PrefixMatch: Hashable, Sendable {
  /// Leading tokens whose KV blocks are cached.
  public var matchedTokens: Int
  /// The tokens that a request would not compute again: up to the last saved recurrent state.
  public var cachedTokens: Int

  /// Creates one from its values, for tests.
  public init(
    matchedTokens: Int, cachedTokens: Int
  ) {
    self.matchedTokens = matchedTokens
    self.cachedTokens = cachedTokens
  }
}

extension Engine {
  /// How much of a prompt a request with this salt would find now. Does not wait for a step and changes nothing, not
  /// even the eviction order. Prefixes that are only on disk do not count.
  public func findPrefix(of tokens: [Int32], cacheSalt: String = "") throws -> PrefixMatch {
    let match = core.engine.find_prefix(.init(tokens), std.string(cacheSalt))
    try match.status.throwIfError()
    return PrefixMatch(matchedTokens: Int(match.num_matched_tokens), cachedTokens: Int(match.num_cached_tokens))
  }
}

/// A file with part of a prompt's prefix, in the engine's prefix folder.
package struct PrefixFile: Hashable, Sendable {
  package var name: String
  /// Tokens up to its end.
  package var position: Int
  package var byteCount: Int64
}

extension Engine {
  /// The files that together cover the longest prefix of a prompt, first to last; empty without a prefix folder.
  package func prefixFiles(of tokens: [Int32], cacheSalt: String = "") throws -> [PrefixFile] {
    let result = core.engine.prefix_files(.init(tokens), std.string(cacheSalt))
    try result.status.throwIfError()
    return result.files.map {
      PrefixFile(name: String($0.name), position: Int($0.position), byteCount: $0.size_bytes)
    }
  }

  /// Takes over a file of another engine of the same model. It is moved, or removed if it is not valid.
  package func addPrefixFile(at path: String, as name: String) throws {
    try core.engine.add_prefix_file(std.string(path), std.string(name)).throwIfError()
  }
}
