// HubError: why a model could not be downloaded, found or removed; the message says what to do about it.
import Foundation

/// Why a model could not be downloaded, found or removed. Each case carries a user-readable sentence. Functions of this
/// module throw it; a model loaded through ``ModelSource/hub(_:settings:)`` throws `PagodaError.fetchFailed` with the
/// same sentence.
public enum HubError: Error, Hashable, Sendable {
  /// An invalid name, pattern or setting.
  case invalidName(String)
  /// No such model, revision or file, on the hub or in the cache.
  case notFound(String)
  /// The hub requires a token, or rejects the one it got.
  case notAllowed(String)
  /// The hub is unreachable, or failed even after retries; partial downloads are kept.
  case network(String)
  /// Received data does not match what the hub announced; it was discarded.
  case damaged(String)
  /// The disk is full, or a file cannot be written or read.
  case disk(String)
  /// Another process is using the model.
  case busy(String)

  /// The error in one sentence.
  public var message: String {
    switch self {
    case .invalidName(let message), .notFound(let message), .notAllowed(let message), .network(let message),
      .damaged(let message), .disk(let message), .busy(let message):
      message
    }
  }
}

extension HubError: LocalizedError {
  /// The message, as `localizedDescription` shows it.
  public var errorDescription: String? { message }
}
