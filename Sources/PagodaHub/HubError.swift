// HubError: why a model could not be fetched, found or removed; the message says what to do about it.

/// Why a model could not be fetched, found or removed. Each case carries a sentence for people.
public enum HubError: Error, Hashable, Sendable {
  /// A name, pattern or setting that can never work.
  case invalidName(String)
  /// No such model, revision or file, on the hub or in the cache.
  case notFound(String)
  /// The hub wants a token, or refuses the one it got.
  case notAllowed(String)
  /// The hub cannot be reached, or gave up after the retries; what has come so far is kept.
  case network(String)
  /// What came is not what the hub announced; it was thrown away.
  case damaged(String)
  /// The disk is full, or a file cannot be written or read.
  case disk(String)
  /// Another process holds what was to be changed.
  case busy(String)

  /// What happened, in one sentence.
  public var message: String {
    switch self {
    case .invalidName(let message), .notFound(let message), .notAllowed(let message), .network(let message),
      .damaged(let message), .disk(let message), .busy(let message):
      message
    }
  }
}
