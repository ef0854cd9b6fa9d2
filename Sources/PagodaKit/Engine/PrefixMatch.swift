// PrefixMatch: how much of a prompt an engine has computed already, and the files that hold it.
internal import CxxCore

/// How much of a prompt an engine has in memory already, for programs that choose among several engines.
public struct PrefixMatch: Hashable, Sendable {
  /// Leading tokens whose KV blocks are there.
  public var matchedTokens: Int
  /// Of those, the ones a request would not compute again: up to the last recurrent state that was kept.
  public var cachedTokens: Int
}

extension Engine {
  /// How much of a prompt a request with this salt would find now. Waits for no step and touches nothing, the order in
  /// which prefixes are given up included. Prefixes that are only on disk do not count.
  public func findPrefix(of tokens: [Int32], cacheSalt: String = "") throws -> PrefixMatch {
    let match = core.engine.find_prefix(.init(tokens), std.string(cacheSalt))
    try match.status.throwIfError()
    return PrefixMatch(matchedTokens: Int(match.num_matched_tokens), cachedTokens: Int(match.num_cached_tokens))
  }
}

/// A file with a part of a prompt's prefix, in the engine's folder for those.
package struct PrefixFile: Hashable, Sendable {
  package var name: String
  /// Tokens up to its end.
  package var position: Int
  package var byteCount: Int64
}

extension Engine {
  /// The files that together lead furthest into a prompt, first to last; none without a folder for them.
  package func prefixFiles(of tokens: [Int32], cacheSalt: String = "") throws -> [PrefixFile] {
    let result = core.engine.prefix_files(.init(tokens), std.string(cacheSalt))
    try result.status.throwIfError()
    return result.files.map {
      PrefixFile(name: String($0.name), position: Int($0.position), byteCount: $0.size_bytes)
    }
  }

  /// Takes over a file of another engine of the same model. It is moved, or removed if it is not what it should be.
  package func addPrefixFile(at path: String, as name: String) throws {
    try core.engine.add_prefix_file(std.string(path), std.string(name)).throwIfError()
  }
}
