// ServerOptions: the addresses, access rules and limits of a server.
import PagodaKit

/// The addresses, access rules and limits of a server.
public struct ServerOptions: Sendable {
  /// The address to listen on; a name or a number.
  public var host = "127.0.0.1"
  /// The port to listen on; 0 picks a free one.
  public var port: UInt16 = 8080
  /// A path in the file system to listen on instead of an address; this user may connect, and its group if the umask lets
  /// it write.
  public var unixPath: String?
  /// Keys that requests must bring, one of them; none, and no ``namedKeys``, means that everybody may ask.
  public var apiKeys: [String] = []
  /// Further keys, with names and limits.
  public var namedKeys: [APIKey] = []
  /// A folder that keeps the secret by which cached prefixes of different keys are told apart, so that they are found
  /// again after a restart; nil makes a new secret for each server. Where prefixes are kept on disk, the folder of those.
  public var secretFolder: String?
  /// Prefix files shared with other servers; nil shares none. Its secret replaces the one in ``secretFolder``.
  public var prefixSharing: PrefixSharing?
  /// Allows listening beyond this machine without a key.
  public var isInsecure = false
  /// Names, besides those of this machine, that requests may call the server by, without the port: `host.docker.internal`,
  /// `*.example.org`, or `*` for any. Where a key is asked for, any name will do unless some are given here.
  public var allowedHosts: [String] = []
  /// Origins, besides the server's own, whose pages may use the server: `https://app.example.org`, `tauri://localhost`,
  /// `chrome-extension://*`, or `*` for any.
  public var allowedOrigins: [String] = []
  /// The names that requests may call the model by; the first is the one that is reported.
  public var modelNames: [String] = ["pagoda"]
  /// Further names of models, in which `*` stands for any text; the first that matches counts.
  public var aliases: [ModelAlias] = []
  /// Where the model was loaded from, for `/model_info`; nil reports its name.
  public var modelPath: String?
  /// Models that fit this machine, which the page offers beside the embedded one; none by default.
  public var suggestions: [ModelSuggestion] = []
  /// A file that keeps the responses of `/v1/responses` over restarts; nil keeps the latest in memory only.
  public var responsesPath: String?
  /// How texts become vectors in `/v1/embeddings` and `/v1/rerank`.
  public var pooling = Pooling.last
  /// How `/v1/rerank` orders documents.
  public var reranking = Reranking.automatic
  /// The name of this server among several behind a router, sent as `x-pagoda-replica` with every answer; nil sends none.
  public var replicaName: String?
  /// Answers that may be made or wait at once, besides those that run; more are refused with status 429.
  public var maximumWaiting = 256
  /// Largest body of a request in bytes.
  public var maximumBodyBytes = 16 << 20
  /// Connections at once; more than answers can be made or wait, so that clients are told when the server is full. When
  /// there are more, those that have been idle for longest are closed.
  public var maximumConnections = 1024
  /// Connections of one address; nil means half of all for other machines, and no limit for this one.
  public var maximumConnectionsPerAddress: Int?
  /// Requests in flight of one address; nil means no limit.
  public var maximumRequestsPerAddress: Int?
  /// Called with a line for each request: method, path, status, time. No prompt and no key is in it.
  public var accessLog: (@Sendable (String) -> Void)?
  /// Called with a line of JSON for each request: its id, the key's name, model, tokens, times, bytes, how it ended. No
  /// prompt and no key is in it. Must not wait.
  public var structuredLog: (@Sendable (String) -> Void)?
  /// Called with a line when the engine's health changes: a device that failed, a disk that is full.
  public var eventLog: (@Sendable (String) -> Void)?

  /// For tests: deadlines too short for real use.
  package var headerSeconds = 10.0
  package var bodySeconds = 20.0
  package var keepAliveSeconds = 10.0
  package var pendingEvents = 4096
  package var allBodyBytes = 256 << 20
  /// Lines that the log could not take, for `/metrics`.
  package var droppedLogLines: (@Sendable () -> Int)?

  /// The defaults: this machine only, port 8080.
  public init() {}

  /// All keys; those without a name are called by their number.
  var keys: [APIKey] {
    apiKeys.enumerated().map { APIKey(name: "key-\($0.offset + 1)", key: $0.element) } + namedKeys
  }

  var limits: HTTPLimits {
    var limits = HTTPLimits()
    limits.connections = maximumConnections
    limits.bodyBytes = maximumBodyBytes
    limits.headerSeconds = headerSeconds
    limits.bodySeconds = bodySeconds
    limits.keepAliveSeconds = keepAliveSeconds
    limits.pendingEvents = pendingEvents
    limits.allBodyBytes = max(allBodyBytes, maximumBodyBytes)
    limits.connectionsPerAddress = maximumConnectionsPerAddress
    limits.requestsPerAddress = maximumRequestsPerAddress
    limits.firstPaths = ["/health", "/ping"]
    return limits
  }
}
