// The options of pagoda serve as the options of a server: addresses, limits, keys and logs.
import Foundation
import PagodaKit
import PagodaServer

/// The server refuses this too; here the message names the options.
func refuseOpenServer(_ options: ServerOptions) throws {
  let isLocal =
    options.unixPath != nil || ["localhost", "::1"].contains(options.host) || options.host.hasPrefix("127.")
  if isLocal || options.isInsecure || !options.apiKeys.isEmpty || !options.namedKeys.isEmpty { return }
  throw UsageError(
    "--host \(options.host) lets other machines connect; add --api-key KEY (or the variable PAGODA_API_KEY), "
      + "--api-key-file FILE, or --insecure to allow it without a key")
}

/// Throws for a value that `pagoda serve` would refuse; starts nothing.
func checkServeOptions(_ arguments: Arguments) throws {
  _ = try arguments.integer("drain", in: 0...86400)
  if ["api-key-file", "prefix-peers", "prefix-secret", "prefix-peer-share"].contains(where: arguments.has) { return }
  _ = try serverOptions(arguments, LogWriter(file: STDERR_FILENO), nil)
}

func serverOptions(_ arguments: Arguments, _ log: LogWriter, _ access: LogWriter?) throws -> ServerOptions {
  var options = ServerOptions()
  options.loadsAdapters = arguments.has("allow-lora-loading")
  if let host = arguments.string("host") { options.host = host }
  if let port = try arguments.integer("port", in: 0...65535) { options.port = UInt16(port) }
  options.metricsPort = try arguments.integer("metrics-port", in: 0...65535).map { UInt16($0) }
  options.metricsHost = arguments.string("metrics-host")
  if options.metricsHost != nil && options.metricsPort == nil {
    throw UsageError("--metrics-host needs --metrics-port")
  }
  options.traceEndpoint = arguments.string("otlp-endpoint")
  try readKeys(arguments, into: &options)
  options.unixPath = arguments.string("unix")
  if options.unixPath != nil && (arguments.string("host") ?? arguments.string("port")) != nil {
    throw UsageError("--unix excludes --host and --port")
  }
  func list(_ name: String) -> [String] {
    (arguments.values[name] ?? []).flatMap { $0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } }
  }
  options.allowedHosts = list("allowed-hosts")
  options.allowedOrigins = list("allowed-origins")
  options.ignoresMedia = arguments.has("ignore-media")
  options.trustedProxies = list("trusted-proxies")
  options.secretFolder = try arguments.folder("prefix-cache-dir")
  options.prefixSharing = try prefixSharing(arguments, peers: list("prefix-peers"))
  options.isInsecure = arguments.has("insecure")
  let name = arguments.modelFileName
  options.modelNames = arguments.values["served-model-name"] ?? (name == "mini" ? ["pagoda-mini", name] : [name])
  options.modelPath = arguments.modelName
  options.pooling = try arguments.pooling()
  options.reranking = try arguments.choice("rerank") ?? options.reranking
  options.responsesPath = arguments.string("responses-file").map { NSString(string: $0).expandingTildeInPath }
  if let name = arguments.string("replica-name") {
    guard !name.isEmpty, name.utf8.count <= 100, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw UsageError("--replica-name must be 1 to 100 letters, digits and signs without spaces")
    }
    options.replicaName = name
  }
  if let count = try arguments.integer("max-queue", in: 0...1_000_000) { options.maximumWaiting = Int(count) }
  let connections = try arguments.integer("max-connections", in: 1...60000)
  options.maximumConnections = connections.map { Int($0) } ?? min(60000, max(1024, options.maximumWaiting + 768))
  options.maximumConnectionsPerAddress = try arguments.integer("max-connections-per-address", in: 1...60000).map {
    Int($0)
  }
  options.maximumRequestsPerAddress = try arguments.integer("max-requests-per-address", in: 1...60000).map { Int($0) }
  if let size = try arguments.bytes("max-body") { options.maximumBodyBytes = Int(min(size, 1 << 30)) }
  options.library = HubLibrary()
  options.eventLog = { log.write("pagoda: \($0)") }
  if let access {
    options.structuredLog = { access.write($0) }
    options.droppedLogLines = { log === access ? log.droppedLines : log.droppedLines + access.droppedLines }
  } else {
    options.droppedLogLines = { log.droppedLines }
  }
  return options
}

func prefixSharing(_ arguments: Arguments, peers: [String]) throws -> PrefixSharing? {
  guard let secret = arguments.string("prefix-secret") else {
    if peers.isEmpty { return nil }
    throw UsageError("--prefix-peers needs --prefix-secret, the same file on every server")
  }
  guard let folder = try arguments.folder("prefix-cache-dir") else {
    throw UsageError("--prefix-secret needs --prefix-cache-dir: servers share the files in it")
  }
  var sharing = PrefixSharing(folder: folder, secretFile: NSString(string: secret).expandingTildeInPath, peers: peers)
  if let text = arguments.string("prefix-peer-share") {
    guard let share = Double(text), (0...1000).contains(share) else {
      throw UsageError("--prefix-peer-share is '\(text)'; it must be a number such as 0.25")
    }
    sharing.maximumShare = share
  }
  return sharing
}

/// The log of requests; for `-`, the writer of standard error.
func accessLog(_ arguments: Arguments, _ log: LogWriter) throws -> LogWriter? {
  guard let path = arguments.string("access-log") else { return nil }
  if path == "-" { return log }
  do {
    return try LogWriter(path: path)
  } catch let error as ServerError {
    throw CommandFailure(error.message)
  }
}

/// Keys from the command line or else the environment; named keys from a file or else the environment.
func readKeys(_ arguments: Arguments, into options: inout ServerOptions) throws {
  let environment = ProcessInfo.processInfo.environment
  options.apiKeys = arguments.values["api-key"] ?? []
  if options.apiKeys.contains("") { throw UsageError("--api-key is empty") }
  do {
    if let path = arguments.string("api-key-file") {
      options.namedKeys = try APIKey.parse(try Terminal.readFile(path), from: path)
      if options.namedKeys.isEmpty { throw CommandFailure("\(path): there is no key in it") }
    } else if let text = environment["PAGODA_API_KEYS"], !text.isEmpty {
      options.namedKeys = try APIKey.parse(text.replacing(";", with: "\n"), from: "PAGODA_API_KEYS")
    }
  } catch let error as ServerError {
    throw CommandFailure(error.message)
  }
  if options.apiKeys.isEmpty, let key = environment["PAGODA_API_KEY"], !key.isEmpty { options.apiKeys = [key] }
}
