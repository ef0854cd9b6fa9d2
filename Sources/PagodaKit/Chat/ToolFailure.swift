// ToolFailure: a tool that failed, and the policy that decides what follows.
internal import Foundation

/// What a session does when a tool fails: when its function throws, its arguments do not fit, or it does not exist.
/// Each failure is also an event, ``Event/toolFailed(_:)``.
///
/// ```swift
/// session.toolFailures = .retry(2)
/// ```
public enum ToolFailurePolicy: Hashable, Sendable {
  /// The model reads the error as the result of its call, and continues.
  case tellModel
  /// The answer fails with the error of the tool.
  case throwError
  /// The tool runs again, at most so many more times; after that, the model is told.
  case retry(Int)
}

/// A tool call that failed.
///
/// ```swift
/// if case .toolFailed(let failure) = event { print(failure.call.name, failure.message) }
/// ```
public struct ToolFailure: Hashable, Sendable {
  /// The call.
  public var call: ToolCall
  /// The error that the tool threw.
  public var error: any Error

  /// A failed call.
  public init(call: ToolCall, error: any Error) {
    self.call = call
    self.error = error
  }

  /// The error in words, as the model reads it.
  public var message: String { (error as? PagodaError)?.message ?? error.localizedDescription }

  /// Whether calls and messages are the same.
  public static func == (left: ToolFailure, right: ToolFailure) -> Bool {
    left.call == right.call && left.message == right.message
  }

  /// Hashes the call and the message.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(call)
    hasher.combine(message)
  }
}
