// Dispatch of a request once its headers are read: which route, and which model, loaded if necessary.
import Foundation
import PagodaKit

extension ModelHost {
  /// Endpoints of other APIs that need models of another kind.
  private static let otherEndpoints = [
    "/v1/audio/": "speech and transcription", "/v1/images/": "images", "/v1/videos": "videos",
    "/v1/moderations": "moderation",
  ]

  func action(for given: HTTPRequest) throws -> HTTPAction {
    var request = given
    // Base addresses are often given without the version.
    if route(given.path) == nil, route("/v1" + given.path) != nil { request.path = "/v1" + given.path }
    guard let methods = route(request.path) ?? peerRoute(request) else {
      if let (path, purpose) = Self.otherEndpoints.first(where: { request.path.hasPrefix($0.key) }) {
        throw APIError.invalid(
          "\(path) is not supported: this server has no model for \(purpose)", code: "unsupported_endpoint", status: 404
        )
      }
      throw APIError.invalid("there is nothing at \(request.path.prefix(100))", code: "not_found", status: 404)
    }
    let method = request.method == "HEAD" ? "GET" : request.method
    guard let work = methods[method] else {
      let allowed = methods.keys.sorted().joined(separator: ", ")
      var response = APIError.invalid(
        "\(request.path) takes \(allowed), not \(request.method.prefix(20))", code: "method_not_allowed", status: 405
      ).response(RequestGate.shape(of: request))
      response.headers.append(HTTPHeader("Allow", allowed))
      return .respond(response)
    }
    return try action(work, request)
  }

  /// Batches run like requests of clients, but no client is connected while they run.
  func connectBatches() {
    batches.dispatch = { [weak self] in self?.dispatch($0) }
    batches.finished = finished
    batches.wait = { [guarding] request in guarding.keyIndex(request).flatMap { guarding.limits.begin($0) } }
    batches.prepare = { [weak self] request in
      guard let self else { throw APIError.shuttingDown }
      let action = try action(for: request)
      let exchange = Exchange(request, action: action, maximumBody: .max)
      switch action {
      case .respond(let response), .refuse(let response): return (exchange, { exchange.reply(.whole(response)) })
      case .work(let work): return (exchange, { work(exchange) })
      }
    }
  }

  private func route(_ path: String) -> [String: Service.Work]? {
    Service.routes[path] ?? modelRoute(path) ?? responseRoute(path) ?? batchRoute(path) ?? fileRoute(path)
      ?? conversationRoute(path)
  }

  private func action(_ work: Service.Work, _ request: HTTPRequest) throws -> HTTPAction {
    switch work {
    case .page(let file): return .respond(file.response)
    case .server(let answer): return .respond(try answer(self, request))
    case .immediate(let answer):
      let current = current
      if let service = state(of: current).service { return .respond(answer(service)) }
      return .work { [self] exchange in
        attempt(exchange, .openAI) {
          try use(current, exchange, .openAI) { exchange.reply(.whole(answer($0))) }
        }
      }
    case .stream(let begin):
      if request.method == "HEAD" { return .respond(HTTPResponse(type: "text/event-stream; charset=utf-8", body: [])) }
      return .work { [self] exchange in
        attempt(exchange, .openAI) { try use(current, exchange, .openAI) { try begin($0, exchange) } }
      }
    case .host(let shape, let handle):
      let isCompressed = try checkBody(of: request, shape)
      return .work { [self] exchange in
        attempt(exchange, shape) {
          if isCompressed { try expandBody(of: exchange) }
          try handle(self, exchange)
        }
      }
    case .upload(let handle):
      let type = request.values("content-type").first ?? ""
      guard let boundary = Multipart.boundary(of: type), request.values("content-encoding").isEmpty else {
        throw APIError.invalid("the body must be multipart/form-data", code: "unsupported_media_type", status: 415)
      }
      return .work { [self] exchange in
        attempt(exchange, .openAI) {
          try handle(self, try Multipart(exchange.request.body, boundary: boundary), exchange)
        }
      }
    case .json(let isGeneration, let shape, let handle):
      let isCompressed = try checkBody(of: request, shape)
      if entries.count == 1, let service = state(of: entries[0]).service {
        try service.replica.check(request)
        if isGeneration { try service.admission.check() }
      }
      return .work { [self] exchange in
        attempt(exchange, shape) {
          if isCompressed { try expandBody(of: exchange) }
          try use(try entry(of: exchange.request.body), exchange, shape) { service in
            try service.replica.check(request)
            try handle(service, exchange)
          }
        }
      }
    }
  }

  /// Runs work that answers; if it throws, the error is the answer.
  private func attempt(_ exchange: Exchange, _ shape: APIError.Shape, _ work: () throws -> Void) {
    do {
      try work()
    } catch {
      let refusal = APIError(any: error)
      let response = refusal.response(shape)
      exchange.reply(.whole(refusal.status == 503 ? response.closing() : response))
    }
  }

  private func use(
    _ entry: Entry, _ exchange: Exchange, _ shape: APIError.Shape, _ work: @escaping @Sendable (Service) throws -> Void
  ) throws {
    try use(entry) { [self] result in attempt(exchange, shape) { try work(try result.get()) } }
  }

  /// Checks that a JSON body follows; returns whether it is compressed.
  private func checkBody(of request: HTTPRequest, _ shape: APIError.Shape) throws -> Bool {
    let type = request.values("content-type").first
    let mime = type?.split(separator: ";").first.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    guard mime == "application/json" || shape == .ollama && isLeftOut(mime, by: request) else {
      throw APIError.invalid("the Content-Type must be application/json", code: "unsupported_media_type", status: 415)
    }
    if request.values("content-length").isEmpty && request.values("transfer-encoding").isEmpty {
      throw APIError.invalid("the request must have a body", code: "length_required", status: 411)
    }
    let codings = request.values("content-encoding").flatMap { $0.lowercased().split { $0 == "," || $0 == " " } }
    if codings.allSatisfy({ $0 == "identity" }) { return false }
    if codings == ["gzip"] || codings == ["x-gzip"] { return true }
    throw APIError(
      status: 415, message: "the body may be compressed with gzip, not otherwise", code: "unsupported_media_type",
      headers: [HTTPHeader("Accept-Encoding", "gzip")])
  }

  /// Whether the type is missing, or the one that `curl -d` adds, as in many Ollama clients. Browsers must send
  /// the right type, because pages of other sites may send these types without a preflight request.
  private func isLeftOut(_ type: String?, by request: HTTPRequest) -> Bool {
    let isBrowser = ["origin", "referer", "sec-fetch-site"].contains { !request.values($0).isEmpty }
    return !isBrowser && (type == nil || type == "application/x-www-form-urlencoded")
  }

  private func expandBody(of exchange: Exchange) throws {
    let limit = options.maximumBodyBytes
    do {
      exchange.replaceBody(try Gzip.expand(exchange.request.body, limit: limit))
    } catch GzipError.malformed(let reason) {
      throw APIError.invalid("the body is not valid gzip: \(reason)")
    } catch {
      throw APIError.invalid("the body is larger than \(limit) bytes", code: "request_too_large", status: 413)
    }
  }
}
