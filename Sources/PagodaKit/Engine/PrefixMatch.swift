// PrefixMatch: how much of a prompt an engine has computed already.
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
