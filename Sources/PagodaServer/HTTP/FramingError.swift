// FramingError: the possible errors in the bytes of a request, and their status codes.

/// A request that breaks HTTP, so that the start of the next one is unknown, or that ended too early.
struct FramingError: Error, Sendable, Hashable {
  var status: Int
  var code: String
  var message: String

  static func malformed(_ message: String) -> FramingError {
    FramingError(status: 400, code: "bad_framing", message: message)
  }
  static let host = FramingError(status: 400, code: "bad_host", message: "the request must have one Host header")
  static let incomplete = FramingError(
    status: 400, code: "incomplete_request", message: "the connection ended inside the request")
  static let timeout = FramingError(
    status: 408, code: "request_timeout", message: "the rest of the request did not come in time")
  static let evicted = FramingError(
    status: 408, code: "request_timeout",
    message: "the server is full, and this request was incomplete; send it again")
  static let clientLeft = FramingError(
    status: 499, code: "client_closed_request",
    message:
      "the connection was closed on your side before the answer was ready; keep it open until the answer has arrived")
  static let connections = FramingError(
    status: 429, code: "rate_limit_exceeded", message: "the server has too many connections; try again")
  static let requests = FramingError(
    status: 429, code: "rate_limit_exceeded", message: "your address has too many requests in flight; try again")
  static let bodies = FramingError(
    status: 429, code: "rate_limit_exceeded", message: "the requests in flight are too large together; try again")
  static let bodyTooLarge = FramingError(
    status: 413, code: "request_too_large", message: "the body is far larger than the server accepts")
  static let target = FramingError(status: 414, code: "uri_too_long", message: "the path is too long")
  static let headers = FramingError(
    status: 431, code: "headers_too_large",
    message: "the headers are too large: \(RequestFraming.maximumHeaders) of them and 8 KiB each are the most")
  static let coding = FramingError(
    status: 501, code: "unsupported_transfer_coding", message: "the only supported Transfer-Encoding is chunked")
  static let version = FramingError(
    status: 505, code: "http_version_not_supported", message: "only HTTP/1.1 and HTTP/1.0 are spoken here")
}
