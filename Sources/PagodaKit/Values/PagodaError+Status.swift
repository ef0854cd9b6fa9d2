// The only conversion of a Status of the core to a Swift error.
internal import CxxCore

extension PagodaError {
  /// Nil if the status is ok.
  init?(_ status: pagoda.Status) {
    // There may not be enough memory for a message.
    let message = status.message.empty() ? "there is not enough memory" : String(status.message)
    switch status.code {
    case .ok: return nil
    case .invalid_argument: self = .invalidArgument(message)
    case .not_found: self = .notFound(message)
    case .io_error: self = .inputOutput(message)
    case .bad_file: self = .badFile(message)
    case .unsupported: self = .unsupported(message)
    case .context_overflow: self = .contextOverflow(message)
    case .out_of_memory: self = .outOfMemory(message)
    case .resource_exhausted: self = .resourceExhausted(message)
    case .cancelled: self = .cancelled(message)
    case .device_error: self = .deviceFailure(message)
    case .shut_down: self = .shutDown(message)
    case .internal: self = .internal(message)
    @unknown default: self = .internal(message)
    }
  }
}

extension pagoda.Status {
  /// Nil if the status is ok. A ``RefusedField`` if the error is about a field of the options or of a request.
  var error: (any Error)? {
    guard let error = PagodaError(self) else { return nil }
    return field.map { RefusedField(String(cString: $0), error) } ?? error
  }

  /// Throws the status as an error, unless it is ok; work that was cancelled throws `CancellationError`. The message
  /// names fields by `names`.
  func throwIfError(naming names: FieldNames = .properties) throws {
    if code == .cancelled { throw CancellationError() }
    if let refused = error as? RefusedField { throw refused.named(names) }
    if let error { throw error }
  }
}
