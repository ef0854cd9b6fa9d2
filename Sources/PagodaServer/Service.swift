// Service: the routes of the server over an engine.
import Foundation
import PagodaKit

final class Service: @unchecked Sendable {
  /// The services a route uses.
  enum Work: Sendable {
    case page(PageFile)
    case quick(@Sendable (Service) -> HTTPResponse)
    /// A stream of events without a request body.
    case stream(@Sendable (Service, Exchange) throws -> Void)
    /// Answered at once with JSON from the request's path and headers.
    case asked(@Sendable (Service, HTTPRequest) throws -> JSONValue)
    /// A body in JSON, an answer from a worker; `isGeneration` makes it count against the queue.
    case json(isGeneration: Bool, APIError.Shape, @Sendable (Service, Exchange) throws -> Void)
  }

  let engine: Engine
  let models: ServedModels
  let admission: Admission
  let metrics: Metrics
  let generator: Generator
  let tokens: TokenTexts
  let created = Int64(Date().timeIntervalSince1970)
  let guarding: Guard
  let replica: Replica
  let pooling: Pooling
  let statusFeed: StatusFeed
  let responses: ResponseStore
  let sharing: PrefixSharing?
  let peers: PrefixPeers?
  private weak var http: HTTPServer?
  private let maximumBodyBytes: Int

  init(_ engine: Engine, behind front: Front, on http: HTTPServer) {
    self.engine = engine
    self.http = http
    let options = front.options
    maximumBodyBytes = options.maximumBodyBytes
    models = ServedModels(names: options.modelNames.isEmpty ? ["pagoda"] : options.modelNames)
    let plan = engine.info.plan
    metrics = front.metrics
    admission = Admission(
      maximumSequences: plan.maximumSequences + options.maximumWaiting,
      maximumPromptTokens: max(1 << 20, 4 * plan.maximumModelLength))
    generator = Generator(
      engine: engine, admission: admission, metrics: metrics, pendingEvents: options.pendingEvents)
    tokens = TokenTexts(tokenizer: engine.tokenizer, endOfText: Set(engine.info.endOfTextTokens))
    guarding = front.guarding
    pooling = options.pooling
    statusFeed = StatusFeed(engine)
    responses = front.responses
    sharing = options.prefixSharing
    peers =
      if let sharing, !front.peers.isEmpty {
        PrefixPeers(front.peers, engine: engine, metrics: metrics, sharing: sharing)
      } else { nil }
    replica = Replica(
      name: options.replicaName, modelPath: options.modelPath ?? models.names[0], fingerprint: engine.info.fingerprint)
  }

  var connections: Int { http?.load.connections ?? 0 }

  func dispatch(_ work: @escaping @Sendable () -> Void) { http?.run(work) }

  func action(for request: HTTPRequest) throws -> HTTPAction {
    guard
      let methods = Self.routes[request.path] ?? modelRoute(request.path) ?? responseRoute(request.path)
        ?? peerRoute(request)
    else {
      throw APIError.invalid("there is nothing at \(request.path.prefix(100))", code: "not_found", status: 404)
    }
    let method = request.method == "HEAD" ? "GET" : request.method
    guard let work = methods[method] else {
      let allowed = methods.keys.sorted().joined(separator: ", ")
      var response = APIError.invalid(
        "\(request.path) takes \(allowed), not \(request.method.prefix(20))", code: "method_not_allowed", status: 405
      ).response(Front.shape(of: request.path))
      response.headers.append(HTTPHeader("Allow", allowed))
      return .respond(response)
    }
    return try action(work, request)
  }

  private func action(_ work: Work, _ request: HTTPRequest) throws -> HTTPAction {
    switch work {
    case .page(let file): return .respond(file.response)
    case .quick(let answer): return .respond(answer(self))
    case .stream(let begin):
      if request.method == "HEAD" { return .respond(HTTPResponse(type: "text/event-stream; charset=utf-8", body: [])) }
      return .work { [self] exchange in
        do {
          try begin(self, exchange)
        } catch {
          exchange.reply(.whole(APIError(any: error).response(.openAI)))
        }
      }
    case .asked(let answer): return .respond(.json(try answer(self, request)))
    case .json(let isGeneration, let shape, let handle):
      let type = request.values("content-type").first ?? ""
      let mime = type.split(separator: ";").first.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
      guard mime == "application/json" else {
        throw APIError.invalid("the Content-Type must be application/json", code: "unsupported_media_type", status: 415)
      }
      if request.values("content-length").isEmpty && request.values("transfer-encoding").isEmpty {
        throw APIError.invalid("the request must have a body", code: "length_required", status: 411)
      }
      try replica.check(request)
      let isCompressed = try Self.isCompressed(request)
      if isGeneration { try admission.check() }
      return .work { [self] exchange in
        do {
          if isCompressed { try expandBody(of: exchange) }
          try handle(self, exchange)
        } catch {
          let refusal = APIError(any: error)
          let response = refusal.response(shape)
          exchange.reply(.whole(refusal.status == 503 ? response.closing() : response))
        }
      }
    }
  }

  private static func isCompressed(_ request: HTTPRequest) throws -> Bool {
    let codings = request.values("content-encoding").flatMap { $0.lowercased().split { $0 == "," || $0 == " " } }
    if codings.allSatisfy({ $0 == "identity" }) { return false }
    if codings == ["gzip"] || codings == ["x-gzip"] { return true }
    throw APIError(
      status: 415, message: "the body may be compressed with gzip, not otherwise", code: "unsupported_media_type",
      headers: [HTTPHeader("Accept-Encoding", "gzip")])
  }

  private func expandBody(of exchange: Exchange) throws {
    do {
      exchange.replaceBody(try Gzip.expand(exchange.request.body, limit: maximumBodyBytes))
    } catch GzipError.malformed(let reason) {
      throw APIError.invalid("the body is not valid gzip: \(reason)")
    } catch {
      throw APIError.invalid(
        "the body is larger than \(maximumBodyBytes) bytes", code: "request_too_large", status: 413)
    }
  }
}
