// PinnedPrefix: prefixes of prompts that stay in an engine's cache, or move between the cache and files.
internal import CxxCore
public import PagodaFoundation

/// A prefix of prompts that an engine keeps in its cache, until this is released or ``unpin()`` is called.
///
/// ```swift
/// let session = ChatSession(engine, instructions: longInstructions, tools: tools)
/// let pin = try await session.pinPrefix()
/// print(pin.tokenCount, "tokens are never computed again")
/// ```
///
/// At most half of the cache can be pinned, and a request that could not run otherwise takes the memory of the oldest
/// pin. A pin does not keep its engine alive.
public final class PinnedPrefix: @unchecked Sendable {
  /// The number of leading tokens that are kept.
  public let tokenCount: Int
  private let id: UInt64
  private weak var core: EngineHandle?  // never assigned after init

  init(_ pin: pagoda.PrefixPin, _ core: EngineHandle) {
    tokenCount = Int(pin.num_tokens)
    id = pin.pin_id
    self.core = core
  }

  deinit { unpin() }

  /// Ends the pin: the cache may evict the prefix like any other. Further calls have no effect.
  public func unpin() { core?.engine.unpin_prefix(id) }
}

extension Engine {
  /// The token ids of a request's prompt as the model would read it, including chat template and tools.
  public func promptTokens(of request: Request) throws -> [Int32] {
    try request.refuseToolsWithoutConversation()
    return try encode(request, tools: request.tools.map { try $0.json() }).encoded.ids
  }

  /// Computes a prefix of prompts, as far as it is not in the cache already, and keeps it there.
  ///
  /// ```swift
  /// let pin = try await engine.pinPrefix(of: try engine.promptTokens(of: Request(messages: [.system(rules)])))
  /// ```
  ///
  /// Only requests with the same ``Request/cacheSalt`` use it.
  public func pinPrefix(of tokens: [Int32], cacheSalt: String = "") async throws -> PinnedPrefix {
    try await compute(tokens, cacheSalt)
    let core = core
    return try await offCooperativePool {
      let pin = core.engine.pin_prefix(.init(tokens), std.string(cacheSalt))
      try pin.status.throwIfError()
      return PinnedPrefix(pin, core)
    }
  }

  /// Computes a prefix of prompts, as far as it is not in the cache already, and writes it to a file: its KV blocks and
  /// the state of recurrent layers. Other requests run in the meantime. Returns the number of tokens in the file; the
  /// last ones may be missing, because a cache consists of whole blocks.
  @discardableResult
  public func savePrefix(of tokens: [Int32], to url: URL, cacheSalt: String = "") async throws -> Int {
    try await compute(tokens, cacheSalt)
    let core = core
    return try await offCooperativePool {
      let saved = core.engine.save_prefix(.init(tokens), std.string(cacheSalt), std.string(url.path))
      try saved.status.throwIfError()
      return Int(saved.num_tokens)
    }
  }

  /// Reads a file of ``savePrefix(of:to:cacheSalt:)`` into the cache and returns its number of tokens. Throws
  /// ``PagodaError/unsupported(_:)`` for a file of another model, device, number format or version, and
  /// ``PagodaError/badFile(_:)`` for a damaged one; the cache is then unchanged.
  @discardableResult
  public func restorePrefix(from url: URL, cacheSalt: String = "") async throws -> Int {
    let core = core
    return try await offCooperativePool {
      let restored = core.engine.restore_prefix(std.string(url.path), std.string(cacheSalt))
      try restored.status.throwIfError()
      return Int(restored.num_tokens)
    }
  }

  private func compute(_ tokens: [Int32], _ cacheSalt: String) async throws {
    var request = Request(prompt: .tokens(tokens), sampling: SamplingParameters(maximumTokens: 1))
    request.cacheSalt = cacheSalt
    request.hasThinkingTags = false
    _ = try await respond(to: request)
  }
}
