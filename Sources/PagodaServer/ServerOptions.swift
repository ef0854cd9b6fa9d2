// ServerOptions: the addresses, access rules and limits of a server.
import PagodaKit

/// The addresses, access rules and limits of a server.
///
/// ```swift
/// var options = ServerOptions()
/// options.port = 8000
/// options.namedKeys = [APIKey(name: "ana", key: secret)]
/// let server = try Server.start(engine, options: options)
/// ```
public struct ServerOptions: Sendable {
  /// The address to listen on; a name or a number.
  public var host = "127.0.0.1"
  /// The port to listen on; 0 picks a free one.
  public var port: UInt16 = 8080
  /// A Unix socket to listen on instead of an address; this user may connect, and its group if the umask permits
  /// writing.
  public var unixPath: String?
  /// A second port for `/metrics`, `/livez`, `/readyz` and `/health` alone, which need no key there; nil opens none, 0
  /// picks a free one.
  public var metricsPort: UInt16?
  /// The address of ``metricsPort``; nil means ``host``.
  public var metricsHost: String?
  /// The collector that gets a span for each request and its phases, as OTLP/HTTP in JSON, such as
  /// `http://localhost:4318`; nil sends none.
  public var traceEndpoint: String?
  /// Keys, one of which every request must have; if there are none, and no ``namedKeys``, no key is required.
  public var apiKeys: [String] = []
  /// Further keys, with names and limits.
  public var namedKeys: [APIKey] = []
  /// A folder with the secret that separates the cached prefixes of different keys, so that they are found
  /// again after a restart; nil creates a new secret for each server. If prefixes are kept on disk, use their folder.
  public var secretFolder: String?
  /// Prefix files shared with other servers; nil shares none. Its secret replaces the one in ``secretFolder``.
  public var prefixSharing: PrefixSharing?
  /// Allows listening beyond this machine without a key.
  public var isInsecure = false
  /// Additional host names of the server, without the port: `host.docker.internal`,
  /// `*.example.org`, or `*` for any. If a key is required, any name is accepted unless some are given here.
  public var allowedHosts: [String] = []
  /// Origins, besides the server's own, whose pages may use the server: `https://app.example.org`, `tauri://localhost`,
  /// `chrome-extension://*`, or `*` for any.
  public var allowedOrigins: [String] = []
  /// Proxies whose `X-Forwarded-For` header names the client: addresses, networks such as `10.0.0.0/8`, or `unix` for
  /// clients of the Unix socket. Without them, all clients of a proxy count as one address.
  public var trustedProxies: [String] = []
  /// The names that requests may call the model by; the first is the one that is reported.
  public var modelNames: [String] = ["pagoda"]
  /// Additional names of models, in which `*` matches any text; the first match is used.
  public var aliases: [ModelAlias] = []
  /// The model's origin, for `/model_info`; nil reports its name.
  public var modelPath: String?
  /// Models that fit this machine, which the page suggests besides the embedded one; none by default.
  public var suggestions: [ModelSuggestion] = []
  /// Whether images, audio and files in messages are replaced by remarks; otherwise requests with them are refused,
  /// because the model cannot read them. A request may decide with `ignore_media`.
  public var ignoresMedia = false
  /// Whether clients may load and unload LoRA adapters from folders of this machine; see `EngineOptions.loraBytes`.
  public var loadsAdapters = false
  /// A file that keeps the responses of `/v1/responses` across restarts; nil keeps the latest in memory only.
  public var responsesPath: String?
  /// How texts become vectors in `/v1/embeddings` and `/v1/rerank`.
  public var pooling = Pooling.last
  /// How `/v1/rerank` orders documents.
  public var reranking = Reranking.automatic
  /// The name of this server among several behind a router, sent as `x-pagoda-replica` with every answer; nil sends
  /// none.
  public var replicaName: String?
  /// Maximum waiting answers, besides those that run; more are refused with status 429.
  public var maximumWaiting = 256
  /// Largest body of a request in bytes.
  public var maximumBodyBytes = 16 << 20
  /// Maximum connections; more than running and waiting answers, so that clients are told when the server is full.
  /// Beyond that, the connections that have been idle for longest are closed.
  public var maximumConnections = 1024
  /// Maximum connections per address; nil means half of all for other machines, and no limit for this one.
  public var maximumConnectionsPerAddress: Int?
  /// Maximum requests in flight per address; nil means no limit.
  public var maximumRequestsPerAddress: Int?
  /// Called with a line for each request: method, path, status, time. It contains no prompt and no key.
  public var accessLog: (@Sendable (String) -> Void)?
  /// Called with a line of JSON for each request: its id, the key's name, model, tokens, times, bytes, finish reason.
  /// It contains no prompt and no key. Must not block.
  public var structuredLog: (@Sendable (String) -> Void)?
  /// Called with a line when the engine's health changes: a device that failed, a disk that is full.
  public var eventLog: (@Sendable (String) -> Void)?

  /// Certificates for HTTPS, from the target PagodaTLS; nil serves plain HTTP.
  package var security: (any TransportSecurity)?

  /// Where holders of an admin key download and delete models; nil refuses both.
  package var library: (any ModelLibrary)?

  /// Servers whose tools the chat page may call; nil refuses calls.
  package var toolServers: (any ToolServers)?

  /// For tests: deadlines too short for real use.
  package var headerSeconds = 10.0
  package var bodySeconds = 20.0
  package var keepAliveSeconds = 10.0
  package var pendingEvents = 4096
  package var allBodyBytes = 256 << 20
  var fileLimits = FileStore.Limits()
  /// Lines dropped by the log, for `/metrics`.
  package var droppedLogLines: (@Sendable () -> Int)?

  /// The defaults: this machine only, port 8080.
  public init() {}

  /// All keys; those without a name are called by their number.
  var keys: [APIKey] {
    apiKeys.enumerated().map { APIKey(name: "key-\($0.offset + 1)", key: $0.element) } + namedKeys
  }

  /// Throws if a trusted proxy is not an address.
  func limits() throws -> HTTPLimits {
    var limits = HTTPLimits()
    limits.proxies = try TrustedProxies(trustedProxies)
    limits.connections = maximumConnections
    limits.bodyBytes = maximumBodyBytes
    limits.headerSeconds = headerSeconds
    limits.bodySeconds = bodySeconds
    limits.keepAliveSeconds = keepAliveSeconds
    limits.pendingEvents = pendingEvents
    limits.allBodyBytes = max(allBodyBytes, maximumBodyBytes)
    limits.connectionsPerAddress = maximumConnectionsPerAddress
    limits.requestsPerAddress = maximumRequestsPerAddress
    limits.firstPaths = ["/health", "/ping", "/livez", "/readyz"]
    return limits
  }
}
