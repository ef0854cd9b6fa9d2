// Server: an engine over HTTP.
import Foundation
import PagodaKit

/// An engine over HTTP: the APIs of OpenAI and Anthropic, and a page to chat with.
///
/// ```swift
/// let server = try Server.start(try await Engine.load(.mini))
/// print("open \(server.url)")
/// ```
public final class Server: Sendable {
  /// The port it listens on; 0 for a path.
  public let port: UInt16
  /// Where a browser finds the page; `unix:` and the path for one.
  public let url: String

  private let front: Front
  private let http: HTTPServer

  private init(_ front: Front, _ http: HTTPServer, _ options: ServerOptions) {
    self.front = front
    self.http = http
    port = http.port
    if let path = options.unixPath {
      url = "unix:\(path)"
      return
    }
    let host = options.host
    let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    url = "http://\(name == "0.0.0.0" ? "localhost" : name):\(port)/"
  }

  /// A server without references stops at once.
  deinit { http.stop(cutWith: APIError.shuttingDown.response().closing()) }

  /// Starts to listen. The engine stays the caller's: shut it down after the server.
  public static func start(_ engine: Engine, options: ServerOptions = ServerOptions()) throws -> Server {
    let server = try listen(options: options)
    server.serve(engine)
    return server
  }

  /// Starts to listen before there is an engine: until ``serve(_:)``, `/health` and all else but the page is answered
  /// with status 503.
  public static func listen(options: ServerOptions = ServerOptions()) throws -> Server {
    let isLocal =
      try options.unixPath != nil
      || SocketAddress.resolve(host: options.host, port: options.port).isLoopback
    if !isLocal && options.keys.isEmpty && !options.isInsecure {
      throw ServerError(
        "listening on \(options.host) lets other machines in: give an API key, or allow it without one explicitly")
    }
    if options.keys.contains(where: \.key.isEmpty) { throw ServerError("an API key is empty") }
    let front = try Front(options, isLoopbackOnly: isLocal)
    let http = HTTPServer(front, limits: options.limits)
    if let path = options.unixPath {
      try http.start(unix: path)
    } else {
      try http.start(host: options.host, port: options.port)
    }
    return Server(front, http, options)
  }

  /// Answers with this engine from now on. It stays the caller's: shut it down after the server.
  public func serve(_ engine: Engine) {
    let options = front.options
    let names = options.modelNames.isEmpty ? ["pagoda"] : options.modelNames
    let entry = ModelHost.Entry(
      nil, ServedModels(names: names, aliases: options.aliases), path: options.modelPath ?? names[0], info: engine.info)
    let host = ModelHost([entry], behind: front, on: http)
    let service = Service(engine, entry, of: host)
    (entry.state, entry.capabilities) = (.loaded(service), service.capabilities)
    front.open(host)
  }

  /// Answers with several models from now on: each is loaded when it is first asked for, in the memory of one plan. Where
  /// that has no room, those that have not been used for longest are unloaded. Throws when a model alone is larger than
  /// the plan, cannot be read, or a name is used twice. ``shutDown(drainSeconds:)`` shuts them down.
  /// - Parameters:
  ///   - models: the models; requests that name none get the first.
  ///   - memoryBytes: memory for all that are loaded at once; nil means all that the device has.
  ///   - unloadAfterSeconds: unloads what has not been used for so long; nil keeps it while there is room.
  ///   - prepare: called with each engine before it answers requests.
  public func serve(
    _ models: [ServedModel], memoryBytes: Int64? = nil, unloadAfterSeconds: Double? = nil,
    prepare: (@Sendable (Engine) async throws -> Void)? = nil
  ) async throws {
    let entries = try await ModelHost.entries(of: models, front.options, memoryBytes: memoryBytes)
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

  /// Takes no new requests, waits for those in flight, cuts what is left after `seconds`, and closes the port.
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
        withExtendedLifetime(self) { continuation.resume() }
      }.start()
    }
    await host?.close()
  }

  package var bodyBytesInFlight: Int { http.load.bodyBytes }

  var statusFeed: StatusFeed? { front.host?.current.service?.statusFeed }

  /// Answers being made or waiting, and open connections.
  package var load: (isIdle: Bool, connections: Int) {
    (front.host?.isEmpty ?? true, http.load.connections)
  }
}
