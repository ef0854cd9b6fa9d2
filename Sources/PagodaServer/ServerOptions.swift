// ServerOptions: where a server listens, who may use it, and how much it takes on.

/// Where a server listens, who may use it, and how much it takes on.
public struct ServerOptions: Sendable {
  /// The address to listen on; a name or a number.
  public var host = "127.0.0.1"
  /// The port to listen on; 0 picks a free one.
  public var port: UInt16 = 8080
  /// Keys that requests must bring, one of them; none means that everybody may ask.
  public var apiKeys: [String] = []
  /// A folder that keeps the secret by which cached prefixes of different keys are told apart, so that they are found
  /// again after a restart; nil makes a new secret for each server. Where prefixes are kept on disk, the folder of those.
  public var secretFolder: String?
  /// Allows listening beyond this machine without a key.
  public var isInsecure = false
  /// The names that requests may call the model by; the first is the one that is reported.
  public var modelNames: [String] = ["pagoda"]
  /// Where the model was loaded from, for `/model_info`; nil reports its name.
  public var modelPath: String?
  /// The name of this server among several behind a router, sent as `x-pagoda-replica` with every answer; nil sends none.
  public var replicaName: String?
  /// Answers that may be made or wait at once, besides those that run; more are refused with status 429.
  public var maximumWaiting = 256
  /// Largest body of a request in bytes.
  public var maximumBodyBytes = 16 << 20
  /// Connections at once.
  public var maximumConnections = 256
  /// Called with a line for each request: method, path, status, time. No prompt and no key is in it.
  public var accessLog: (@Sendable (String) -> Void)?
  /// Called with a line when the engine's health changes: a device that failed, a disk that is full.
  public var eventLog: (@Sendable (String) -> Void)?

  /// For tests: deadlines shorter than anybody wants.
  package var headerSeconds = 10.0
  package var bodySeconds = 20.0
  package var keepAliveSeconds = 10.0
  package var pendingEvents = 4096

  /// The defaults: this machine only, port 8080.
  public init() {}

  var limits: HTTPLimits {
    var limits = HTTPLimits()
    limits.connections = maximumConnections
    limits.bodyBytes = maximumBodyBytes
    limits.headerSeconds = headerSeconds
    limits.bodySeconds = bodySeconds
    limits.keepAliveSeconds = keepAliveSeconds
    limits.pendingEvents = pendingEvents
    return limits
  }
}
