// RequestGate: handles requests before their routes: keys, logs, refusals, and waiting while the model loads.
import Foundation
import PagodaKit

final class RequestGate: HTTPService, @unchecked Sendable {
  let options: ServerOptions
  let guarding: Guard
  let metrics = Metrics()
  let added = AddedNames()
  let responses: ResponseStore
  let peers: [PrefixPeer]
  let exporter: SpanExporter?
  private let healthLog: HealthLog
  private let lock = NSLock()
  private var stored: ModelHost?  // guarded by `lock`

  init(_ options: ServerOptions, isLoopbackOnly: Bool) throws {
    self.options = options
    let shared = try options.prefixSharing?.secret()
    peers = try (options.prefixSharing?.peers ?? []).map { try PrefixPeer($0, secret: shared ?? TenantSecret()) }
    let folder = options.keys.isEmpty ? nil : options.secretFolder
    guarding = Guard(
      keys: options.keys, isLoopbackOnly: isLoopbackOnly, allowedHosts: options.allowedHosts,
      allowedOrigins: options.allowedOrigins,
      secret: try shared ?? folder.map { try TenantSecret(folder: $0) } ?? TenantSecret(),
      peerToken: shared?.peerToken, proxies: try TrustedProxies(options.trustedProxies))
    responses = try options.responsesPath.map { try ResponseStore(path: $0) } ?? ResponseStore()
    metrics.droppedLogLines = options.droppedLogLines
    healthLog = HealthLog(options.eventLog)
    exporter = try options.traceEndpoint.map { try SpanExporter($0, replica: options.replicaName) }
    if let exporter { metrics.spans = { exporter.counts } }
  }

  static let readinessPaths: Set = ["/health", "/ping", "/readyz"]

  /// Nil while the model loads.
  var host: ModelHost? { lock.withLock { stored } }

  func open(_ host: ModelHost) { lock.withLock { stored = host } }

  func action(for request: HTTPRequest) -> HTTPAction {
    let shape = Self.shape(of: request)
    do {
      if let preflight = guarding.preflight(request) { return .respond(preflight) }
      try guarding.check(request)
      if guarding.asksForName(request), let host { return .respond(host.nameForRouters) }
      return try host?.action(for: request) ?? .respond(responseWhileLoading(request))
    } catch {
      let refusal = APIError(any: error)
      let response = refusal.response(shape)
      return .respond(refusal.status == 503 ? response.closing() : response)
    }
  }

  /// The page is available immediately; it shows itself that the model's name is not known yet.
  private func responseWhileLoading(_ request: HTTPRequest) -> HTTPResponse {
    if let page = PageFile.all[request.path], ["GET", "HEAD"].contains(request.method) { return page.response }
    if request.path == "/livez" { return Health().liveness }
    if Self.readinessPaths.contains(request.path) { return Health.loading }
    return APIError.loading.response(Self.shape(of: request))
  }

  func finished(_ exchange: Exchange) {
    let (request, status) = (exchange.head, exchange.status)
    let seconds = monotonicSeconds() - exchange.start
    metrics.answered(status: status)
    if let host { healthLog.note(host.health) }
    exporter?.add(exchange)
    let key = guarding.keyIndex(request)
    if let key { guarding.limits.use(key, tokens: exchange.record.tokens) }
    options.structuredLog?(
      exchange.record.line(
        of: exchange, address: address(of: request), key: key.map { guarding.keys[$0].name }))
    guard let log = options.accessLog else { return }
    let path = AccessRecord.plain(request.path, 200)
    log("\(request.method) \(path) \(status) \(String(format: "%.1f", seconds * 1000)) ms")
  }

  /// The key, or else the client's address.
  func sender(of request: HTTPRequest) -> String {
    guarding.keyIndex(request).map { "key \($0)" } ?? address(of: request)
  }

  func address(of request: HTTPRequest) -> String { guarding.address(of: request) }

  func bodyTooLarge(_ request: HTTPRequest) -> HTTPResponse {
    APIError.invalid(
      "the body is larger than \(options.maximumBodyBytes) bytes", code: "request_too_large", status: 413
    ).response(Self.shape(of: request))
  }

  func headers(for exchange: Exchange) -> [HTTPHeader] {
    let name = exchange.head.isAnthropic ? [HTTPHeader("request-id", exchange.id)] : []
    let replica = options.replicaName.map { [HTTPHeader("x-pagoda-replica", $0)] } ?? []
    return guarding.originHeaders(exchange.head) + name + replica
  }

  func trace(of request: HTTPRequest) -> TraceContext? { TraceContext(request, always: exporter != nil) }

  func refusal(of request: HTTPRequest, _ error: FramingError) -> HTTPResponse {
    if error.status == 429 { return APIError.overloaded(error.message).response(Self.shape(of: request)) }
    return APIError.invalid(error.message, code: error.code, status: error.status).response(
      Self.shape(of: request))
  }

  static func shape(of request: HTTPRequest) -> APIError.Shape {
    if request.path.hasPrefix("/api/") { return .ollama }
    return request.isAnthropic ? .anthropic : .openAI
  }
}

extension HTTPRequest {
  /// Whether the client speaks Anthropic's API: its header is on every request of its clients.
  var isAnthropic: Bool {
    path.hasPrefix("/v1/messages") || path.hasPrefix("/v1/") && !values("anthropic-version").isEmpty
  }
}
