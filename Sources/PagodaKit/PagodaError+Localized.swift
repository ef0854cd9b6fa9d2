// Errors as Foundation shows them.
import Foundation

extension PagodaError: LocalizedError {
  /// The message, as `localizedDescription` shows it.
  public var errorDescription: String? { message }
}
