// PagodaError: all errors as one enumeration; the message says what failed and why.

/// An error of the engine. Each case carries a message for the user. Later versions may add cases, so a `switch` needs
/// a `default`.
///
/// ```swift
/// do {
///   print(try await session.respond(to: question))
/// } catch PagodaError.contextOverflow {
///   session.reset()
/// } catch let error as PagodaError {
///   print(error.message)
/// }
/// ```
public enum PagodaError: Error, Hashable, Sendable {
  /// The caller passed an argument that can never work; the message names it.
  case invalidArgument(String)
  /// A file, model or request that does not exist.
  case notFound(String)
  /// The operating system refused a read or an open.
  case inputOutput(String)
  /// A file whose content breaks its format.
  case badFile(String)
  /// A valid input that this engine does not support: an architecture, a number format, a device.
  case unsupported(String)
  /// The prompt and the requested tokens exceed the context length.
  case contextOverflow(String)
  /// The memory plan, or an allocation, does not fit; the message has the numbers.
  case outOfMemory(String)
  /// No capacity at the moment: a full queue or an exhausted budget. May succeed later.
  case resourceExhausted(String)
  /// The core cancelled its work. Cancelled tasks of your program get `CancellationError` instead.
  case cancelled(String)
  /// A device failed during a step; the engine continues with later requests.
  case deviceFailure(String)
  /// The engine has been shut down, or the model unloaded, before or during the work.
  case shutDown(String)
  /// A model could not be downloaded; the message has the reason.
  case fetchFailed(String)
  /// A token limit ended the answer before its value was complete.
  case incompleteOutput(IncompleteOutput)
  /// A bug in Pagoda itself.
  case `internal`(String)
}

extension PagodaError {
  /// The case's name in JSON, such as `context_overflow`.
  public var code: String { parts.code }

  /// The error in one sentence.
  public var message: String { parts.message }

  private var parts: (code: String, message: String) {
    switch self {
    case .invalidArgument(let message): ("invalid_argument", message)
    case .notFound(let message): ("not_found", message)
    case .inputOutput(let message): ("io_error", message)
    case .badFile(let message): ("bad_file", message)
    case .unsupported(let message): ("unsupported", message)
    case .contextOverflow(let message): ("context_overflow", message)
    case .outOfMemory(let message): ("out_of_memory", message)
    case .resourceExhausted(let message): ("resource_exhausted", message)
    case .cancelled(let message): ("cancelled", message)
    case .deviceFailure(let message): ("device_error", message)
    case .shutDown(let message): ("shut_down", message)
    case .fetchFailed(let message): ("fetch_failed", message)
    case .incompleteOutput(let output): ("incomplete_output", output.message)
    case .internal(let message): ("internal", message)
    }
  }
}

extension PagodaError: CustomStringConvertible {
  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}

extension PagodaError {
  static var shutDownWhileRunning: PagodaError { .shutDown("the engine was shut down while it was answering") }
}
