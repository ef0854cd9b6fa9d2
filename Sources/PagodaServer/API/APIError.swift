// APIError: a refusal as clients of OpenAI's, Anthropic's and Ollama's API expect it.
import PagodaKit

struct APIError: Error, Sendable {
  var status: Int
  var message: String
  var type = "invalid_request_error"
  var param: String?
  var code: String?
  var retryAfter: Int?  // seconds
  var headers: [HTTPHeader] = []

  /// A request that can never work.
  static func invalid(_ message: String, param: String? = nil, code: String? = nil, status: Int = 400) -> APIError {
    APIError(status: status, message: message, param: param, code: code)
  }

  /// No capacity now; no work has been done for the request yet.
  static func overloaded(_ message: String) -> APIError {
    APIError(
      status: 429, message: message, type: "rate_limit_error", code: "rate_limit_exceeded", retryAfter: 1)
  }

  /// One client or address has exceeded its limit; the wait is in seconds.
  static func limited(_ message: String, _ wait: Double) -> APIError {
    let seconds = max(1, Int(min(wait, 3600).rounded(.up)))
    var error = overloaded("\(message) \(seconds) s")
    error.retryAfter = seconds
    return error
  }

  static let loading = APIError(
    status: 503, message: "the model is still loading", type: "server_error", code: "model_loading", retryAfter: 1)

  static let shuttingDown = APIError(
    status: 503, message: "the server is shutting down", type: "server_error", code: "server_shutting_down",
    retryAfter: 5)
}

extension APIError {
  /// The last event of a stream whose client does not read it.
  static let tooSlow = APIError(
    status: 408, message: "the client reads too slowly: the rest of the answer was dropped", type: "server_error",
    code: "client_too_slow")

  init(_ error: FieldError) { self = .invalid(error.message, param: error.field) }

  init(_ error: PagodaError) {
    switch error {
    case .invalidArgument(let message), .unsupported(let message): self = .invalid(message)
    case .contextOverflow(let message):
      self = .invalid(message, param: "messages", code: "context_length_exceeded")
    case .resourceExhausted(let message): self = .invalid(message)  // a template or a pattern beyond its budget
    case .outOfMemory(let message):
      self = APIError(
        status: 503, message: message, type: "server_error", code: "out_of_memory", retryAfter: 5)
    case .shutDown, .cancelled: self = .shuttingDown
    case .deviceFailure(let message):
      // Another replica, or this one after it has recovered, can answer: routers and clients try again.
      self = APIError(status: 503, message: message, type: "server_error", code: error.code, retryAfter: 2)
    default: self = APIError(status: 500, message: error.message, type: "server_error", code: error.code)
    }
  }

  /// Converts any error that work can throw.
  init(any error: any Error) {
    switch error {
    case let error as APIError: self = error
    case let error as FieldError: self.init(error)
    case let error as PagodaError: self.init(error)
    case let error as RefusedField: self.init(error.error)
    default: self = APIError(status: 500, message: "\(error)", type: "server_error", code: "internal")
    }
  }
}

extension APIError {
  /// `{"message": ..., "type": ..., "param": ..., "code": ...}`
  var openAIBody: JSONValue {
    .object([
      "message": .string(message), "type": .string(type), "param": param.map { .string($0) } ?? .null,
      "code": code.map { .string($0) } ?? .null,
    ])
  }

  /// `{"type": ..., "message": ...}`
  var anthropicBody: JSONValue {
    let type =
      switch status {
      case 401: "authentication_error"
      case 403: "permission_error"
      case 404: "not_found_error"
      case 413: "request_too_large"
      case 429: "rate_limit_error"
      case 503: "overloaded_error"
      case 500...: "api_error"
      default: "invalid_request_error"
      }
    return .object(["type": .string(type), "message": .string(message)])
  }

  enum Shape: Sendable {
    case openAI
    case anthropic
    case ollama
  }

  /// `{"error": ...}`
  var ollamaBody: JSONValue { .object(["error": .string(message)]) }

  func response(_ shape: Shape = .openAI) -> HTTPResponse {
    let body: JSONValue =
      switch shape {
      case .openAI: .object(["error": openAIBody])
      case .anthropic: .object(["type": .string("error"), "error": anthropicBody])
      case .ollama: ollamaBody
      }
    let retry = retryAfter.map { [HTTPHeader("Retry-After", String($0))] } ?? []
    return .json(body, status: status, headers: retry + headers)
  }
}

extension HTTPResponse {
  static func json(_ value: JSONValue, status: Int = 200, headers: [HTTPHeader] = []) -> HTTPResponse {
    HTTPResponse(status: status, type: "application/json", headers: headers, body: Array((value.text + "\n").utf8))
  }
}
