// Server: an engine over HTTP.
import Foundation
import PagodaKit

/// An engine over HTTP: the APIs of OpenAI and Anthropic, and a chat page.
///
/// ```swift
/// let server = try Server.start(try await Engine.load(.mini))
/// print("open \(server.url)")
/// ```
public final class Server: Sendable {
  /// The port it listens on; 0 for a path.
  public let port: UInt16
  /// The port of ``ServerOptions/metricsPort``; nil if there is none.
  public var metricsPort: UInt16? { monitor?.port }
  /// The page's address for browsers; for a Unix socket, `unix:` and the path.
  public let url: String

  let front: RequestGate
  private let http: HTTPServer
  private let monitor: HTTPServer?

  private init(_ front: RequestGate, _ http: HTTPServer, _ monitor: HTTPServer?, _ options: ServerOptions) {
    self.front = front
    self.http = http
    self.monitor = monitor
    port = http.port
    if let path = options.unixPath {
      url = "unix:\(path)"
      return
    }
    let host = options.host
    let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    url = "\(options.security == nil ? "http" : "https")://\(name == "0.0.0.0" ? "localhost" : name):\(port)/"
  }

  /// A server without references stops immediately.
  deinit {
    http.stop(cutWith: APIError.shuttingDown.response().closing())
    monitor?.stop(cutWith: .empty)
    front.exporter?.close(within: 0)
  }

  /// Starts to listen. The engine stays the caller's: shut it down after the server.
  public static func start(_ engine: Engine, options: ServerOptions = ServerOptions()) throws -> Server {
    let server = try listen(options: options)
    server.serve(engine)
    return server
  }

  /// Starts to listen before there is an engine: until ``serve(_:)``, `/health` and everything else except the page
  /// gets status 503.
  public static func listen(options: ServerOptions = ServerOptions()) throws -> Server {
    let isLocal =
      try options.unixPath != nil
      || SocketAddress.resolve(host: options.host, port: options.port).isLoopback
    if !isLocal && options.keys.isEmpty && !options.isInsecure {
      throw ServerError(
        "listening on \(options.host) allows other machines to connect: set an API key, or allow it explicitly without one"
      )
    }
    if options.keys.contains(where: \.key.isEmpty) { throw ServerError("an API key is empty") }
    let front = try RequestGate(options, isLoopbackOnly: isLocal)
    let http = HTTPServer(front, limits: try options.limits(), security: options.security)
    if let path = options.unixPath {
      try http.start(unix: path)
    } else {
      try http.start(host: options.host, port: options.port)
    }
    do {
      return Server(front, http, try monitor(front, http, options), options)
    } catch {
      http.stop(cutWith: .empty)
      throw error
    }
  }

  private static func monitor(_ front: RequestGate, _ http: HTTPServer, _ options: ServerOptions) throws -> HTTPServer?
  {
    guard let port = options.metricsPort else { return nil }
    let server = HTTPServer(Monitor(front, of: http), limits: Monitor.limits)
    try server.start(host: options.metricsHost ?? options.host, port: port)
    return server
  }

  /// Answers with this engine from now on. It stays the caller's: shut it down after the server.
  public func serve(_ engine: Engine) {
    let options = front.options
    let names = options.modelNames.isEmpty ? ["pagoda"] : options.modelNames
    let entry = ModelHost.Entry(
      nil,
      ServedModels(
        names: names, aliases: options.aliases, ignoresMedia: options.ignoresMedia,
        readsImages: engine.info.readsImages,
        added: front.added),
      path: options.modelPath ?? names[0], info: engine.info)
    let host = ModelHost([entry], behind: front, on: http)
    let service = Service(engine, entry, of: host)
    (entry.state, entry.capabilities) = (.loaded(service), service.capabilities)
    front.open(host)
  }

  /// Serves several models from now on: each is loaded on demand, within one memory plan. If it does not fit, the least
  /// recently used models are unloaded. Throws if a model alone exceeds the plan or cannot be read, or if a name is
  /// used twice. ``shutDown(drainSeconds:)`` shuts them down.
  /// - Parameters:
  ///   - models: the models; requests that name none get the first.
  ///   - memoryBytes: memory for all loaded models; nil means all of the device's memory.
  ///   - unloadAfterSeconds: unloads models that have been idle for this long; nil keeps them while memory suffices.
  ///   - prepare: called with each engine before it answers requests.
  public func serve(
    _ models: [ServedModel], memoryBytes: Int64? = nil, unloadAfterSeconds: Double? = nil,
    prepare: (@Sendable (Engine) async throws -> Void)? = nil
  ) async throws {
    let entries = try await ModelHost.entries(of: models, front.options, memoryBytes: memoryBytes, added: front.added)
    let limit = memoryBytes ?? entries.map(\.info.plan.deviceLimitBytes).min() ?? .max
    let host = ModelHost(entries, behind: front, on: http, memoryBytes: limit, prepare: prepare)
    front.open(host)
    guard let unloadAfterSeconds else { return }
    Task { [weak host] in
      while let open = host {
        await open.unload(idleFor: unloadAfterSeconds)
        try await Task.sleep(for: .seconds(max(0.05, min(1, unloadAfterSeconds / 4))))
      }
    }
  }

  /// Accepts no new requests, waits for those in flight, cuts off the rest after `seconds`, and closes the port. Until
  /// then ``ServerOptions/metricsPort`` reports that the server is shutting down.
  public func shutDown(drainSeconds seconds: Double = 30) async {
    let host = front.host
    host?.drain()
    http.stopAccepting()
    let deadline = monotonicSeconds() + seconds
    while !(host?.isEmpty ?? true && http.load.exchanges == 0) && monotonicSeconds() < deadline {
      try? await Task.sleep(for: .milliseconds(20))
    }
    let http = http
    await withCheckedContinuation { continuation in
      Thread { [self] in
        http.stop(cutWith: APIError.shuttingDown.response().closing())
        monitor?.stop(cutWith: .empty)
        front.exporter?.close(within: 2)
        withExtendedLifetime(self) { continuation.resume() }
      }.start()
    }
    await host?.close()
  }

  package var bodyBytesInFlight: Int { http.load.bodyBytes }

  var statusFeed: StatusFeed? { front.host?.current.service?.statusFeed }

  /// Answers running or waiting, and open connections.
  package var load: (isIdle: Bool, connections: Int) {
    (front.host?.isEmpty ?? true, http.load.connections)
  }
}
