// The engine's cache of a session's conversation: pinned in memory, or saved to a file.
public import PagodaFoundation

extension ChatSession {
  /// Keeps the conversation so far (instructions, tools and history) in the engine's cache, until the pin is released.
  /// Computes it if necessary, so that the next answer starts sooner. Other sessions with the same instructions and
  /// tools profit from it too.
  ///
  /// ```swift
  /// let pin = try await session.pinPrefix()
  /// defer { pin.unpin() }
  /// ```
  public func pinPrefix() async throws -> PinnedPrefix {
    let (engine, tokens) = try sharedTokens()
    return try await engine.pinPrefix(of: tokens)
  }

  /// Writes what the model has computed for the conversation so far to a file, so that a later run of the program does
  /// not compute it again. The file contains the conversation only as tokens: save the ``transcript`` as well. Returns
  /// the number of tokens in it.
  ///
  /// ```swift
  /// try await session.saveState(to: folder.appending(path: "chat.state"))
  /// try JSONEncoder().encode(session.transcript).write(to: folder.appending(path: "chat.json"))
  /// ```
  @discardableResult
  public func saveState(to url: URL) async throws -> Int {
    let (engine, tokens) = try sharedTokens()
    return try await engine.savePrefix(of: tokens, to: url)
  }

  /// Reads a file of ``saveState(to:)`` into the engine's cache. Returns how many tokens of this session's conversation
  /// need not be computed again: 0 if the file is of another conversation. The answers are the same with and without.
  ///
  /// ```swift
  /// let session = ChatSession(engine, transcript: transcript, tools: tools)
  /// do { try await session.restoreState(from: url) } catch { print("computed again:", error) }
  /// ```
  ///
  /// Throws ``PagodaError/unsupported(_:)`` for a file of another model, device, number format or version, and
  /// ``PagodaError/badFile(_:)`` for a damaged one.
  @discardableResult
  public func restoreState(from url: URL) async throws -> Int {
    let (engine, tokens) = try sharedTokens()
    try await engine.restorePrefix(from: url)
    return try engine.findPrefix(of: tokens + tokens.suffix(1)).cachedTokens  // a prompt that continues
  }

  /// The engine, and the tokens with which every further prompt of the conversation begins: those that two messages
  /// have in common. One begins with a line break, which tokenizers join with the one that chat templates put before it.
  private func sharedTokens() throws -> (Engine, [Int32]) {
    guard let engine = engine as? Engine else {
      throw PagodaError.unsupported("only the engine of a model has a cache of prompts")
    }
    let requests = withState { state in ["a", "\nb"].map { state.request(for: [.user($0)]) } }
    let prompts = try requests.map { try engine.promptTokens(of: $0) }
    return (engine, zip(prompts[0], prompts[1]).prefix { $0 == $1 }.map(\.0))
  }
}
