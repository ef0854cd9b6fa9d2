// Monitor: metrics and health on a port of their own, for scrapers and probes, which bring no key. It has no other
// route, and nothing that it returns contains a prompt, an answer or a key.
import Foundation

final class Monitor: HTTPService, @unchecked Sendable {
  /// Probes and a few scrapers.
  static var limits: HTTPLimits {
    var limits = HTTPLimits()
    limits.connections = 128
    limits.bodyBytes = 4 << 10
    limits.firstPaths = ["/livez", "/readyz", "/health", "/metrics"]
    return limits
  }

  private let front: RequestGate
  private weak var http: HTTPServer?  // the server that is watched

  init(_ front: RequestGate, of http: HTTPServer) {
    self.front = front
    self.http = http
  }

  func action(for request: HTTPRequest) -> HTTPAction {
    guard Self.limits.firstPaths.contains(request.path) else {
      return .respond(
        APIError.invalid("this port has /metrics, /livez, /readyz and /health", code: "not_found", status: 404)
          .response())
    }
    guard ["GET", "HEAD"].contains(request.method) else {
      var response = APIError.invalid("\(request.path) takes GET", code: "method_not_allowed", status: 405).response()
      response.headers.append(HTTPHeader("Allow", "GET"))
      return .respond(response)
    }
    return .respond(answer(request.path))
  }

  private func answer(_ path: String) -> HTTPResponse {
    let host = front.host
    switch path {
    case "/metrics":
      return .metrics(host?.metricsText ?? front.metrics.text(connections: http?.load.connections ?? 0))
    case "/livez": return (host?.health ?? Health()).liveness
    default: return host?.health.response ?? Health.loading
    }
  }

  func sender(of request: HTTPRequest) -> String { front.sender(of: request) }

  func bodyTooLarge(_ request: HTTPRequest) -> HTTPResponse {
    refusal(of: request, .malformed("the body is too large"))
  }

  func refusal(of request: HTTPRequest, _ error: FramingError) -> HTTPResponse {
    front.refusal(of: request, error)
  }

  func headers(for exchange: Exchange) -> [HTTPHeader] { front.headers(for: exchange) }

  func finished(_ exchange: Exchange) {}
}

extension HTTPResponse {
  /// Prometheus' text format.
  static func metrics(_ text: String) -> HTTPResponse {
    HTTPResponse(type: "text/plain; version=0.0.4; charset=utf-8", body: Array(text.utf8))
  }
}
