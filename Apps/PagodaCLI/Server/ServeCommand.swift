// pagoda serve: serves an engine to other programs over HTTP.
import Foundation
import PagodaKit
import PagodaServer
import PagodaTLS

extension Command {
  static let serve = Command(
    name: "serve",
    summary: "Serves a model over HTTP: OpenAI's, Anthropic's and Ollama's APIs, and a chat page.",
    operands: "",
    notes: """
      Other machines may connect only with --api-key (or the variable PAGODA_API_KEY), --api-key-file (or its lines in
      PAGODA_API_KEYS), or with --insecure. On Ctrl-C and SIGTERM the server stops accepting requests and lets those in
      flight finish; a second signal ends it immediately. While the model loads, /health and requests get status 503; the
      address is printed once the model has loaded.
      Several models: --model small=DIR --model large=DIR. Each is loaded when a request first names it; if memory runs
      short, the least recently used models are unloaded.
      """,
    groups: [
      OptionGroup(
        "Options",
        [
          Option(
            "model", short: "m", value: "[NAME=]MODEL",
            help: "a folder or .gguf file, ORG/NAME, qwen3.5:4b, or mini (default); may be repeated"),
          SharedOptions.shape,
          Option("host", value: "ADDRESS", help: "where to listen (default 127.0.0.1, this machine only)"),
          Option("port", value: "N", help: "port (default 8080); 0 picks a free one"),
          Option("unix", value: "PATH", help: "listen on a Unix socket instead"),
          Option(
            "tls-cert", value: "FILE",
            help: "serve HTTPS with this certificate and its chain (PEM); SIGHUP reads it again"),
          Option("tls-key", value: "FILE", help: "the certificate's key (PEM)"),
          Option(
            "metrics-port", value: "N",
            help: "also serve /metrics, /livez, /readyz and /health on this port, without a key"),
          Option("metrics-host", value: "ADDRESS", help: "where --metrics-port listens (default: --host)"),
          Option("api-key", value: "KEY", help: "require this key in requests; may be repeated"),
          Option(
            "api-key-file", value: "FILE",
            help: "keys with names and limits: lines of `name key [requests/min tokens/min share priority admin]`"),
          Option("insecure", help: "allow other machines to connect without a key"),
          Option("allowed-hosts", value: "NAMES", help: "additional names of the server, such as host.docker.internal"),
          Option(
            "allowed-origins", value: "ORIGINS", help: "web pages that may use the server, such as tauri://localhost"),
          Option(
            "trusted-proxies", value: "ADDRESSES",
            help: "proxies whose X-Forwarded-For names the client: 127.0.0.1,10.0.0.0/8, or unix"),
          Option("served-model-name", value: "NAME", help: "the model's name in requests; may be repeated"),
          Option(
            "alias", value: "PATTERN=NAME", help: "another name for a model, such as 'claude-*=small'; may be repeated"
          ),
          Option("models-memory", value: "SIZE", help: "memory for all loaded models (default: the device's)"),
          Option(
            "unload-after", value: "SECONDS", help: "unload models idle for this long (default: when memory is needed)"),
          SharedOptions.pooling,
          Option(
            "rerank", value: "HOW",
            help: "/v1/rerank: cosine, yes-no (as Qwen3-Reranker), or auto (default: by the model's name)"),
          Option("replica-name", value: "NAME", help: "send this name as x-pagoda-replica, for use behind a router"),
          Option("prefix-peers", value: "URLS", help: "fetch prefixes from these servers: http://host:8080,..."),
          Option(
            "prefix-secret", value: "FILE",
            help: "share prefixes with servers that have the same file (32 bytes or more)"),
          Option(
            "prefix-peer-share", value: "X",
            help: "maximum time of a fetch, as a share of the time to compute the prefix (default 0.25)"),
          Option("max-queue", value: "N", help: "maximum waiting answers; more get status 429 (default 256)"),
          Option(
            "max-connections", value: "N", help: "maximum connections (default 1024, or 768 more than --max-queue)"),
          Option(
            "max-connections-per-address", value: "N",
            help: "maximum connections from one address (default: half of all; no limit for this machine)"),
          Option(
            "max-requests-per-address", value: "N",
            help: "maximum requests in flight from one address (default: no limit)"),
          Option("max-body", value: "SIZE", help: "maximum size of a request (default 16MiB)"),
          Option(
            "drain", value: "SECONDS", help: "how long answers in flight may take to finish at shutdown (default 30)"),
          Option("allow-lora-loading", help: "let clients load and unload LoRA adapters (/v1/load_lora_adapter)"),
          Option(
            "mcp", value: "FILE",
            help:
              "let the chat page call the tools of these MCP servers ({\"mcpServers\": {...}}), asking before each call"
          ),
          Option("ignore-media", help: "replace images, audio and files by remarks instead of refusing them"),
          Option("responses-file", value: "FILE", help: "keep the responses of /v1/responses across restarts"),
          Option("receipts", value: "FILE", help: "append a receipt for each answer, which pagoda replay can verify"),
          Option("receipts-prompts", help: "include the prompts in receipts, as token ids"),
          Option(
            "access-log", value: "FILE",
            help: "write a line of JSON for each request, without its content; - is standard error"),
          Option(
            "otlp-endpoint", value: "URL",
            help: "send a span for each request to this OpenTelemetry collector: http://host:4318"),
        ]),
      SharedOptions.pipeline, SharedOptions.engine,
    ],
    run: runServe)
}

private func runServe(_ given: Arguments) async throws -> Int32 {
  var arguments = given
  try arguments.refusePositionals()
  let models = try arguments.takeNamedModels()
  if arguments.has("pipeline"), try PipelineStage.mpiRank() > 0 {
    try await arguments.runStage(address: nil)
    return 0
  }
  let log = LogWriter(file: STDERR_FILENO)  // the log's reader may stall; the server must not
  let access = try accessLog(arguments, log)
  var options = try serverOptions(arguments, log, access)
  try readModelNames(arguments, models, into: &options)
  if models.count < 2, arguments.modelFileName == "mini" { options.suggestions = await suggestions() }
  let drain = Double(try arguments.integer("drain", in: 0...86400) ?? 30)
  let reloading = try useCertificates(arguments, log, &options)
  defer { reloading?.cancel() }
  signal(SIGPIPE, SIG_IGN)
  signal(SIGTERM) { _ in _exit(0) }  // while the model loads, nothing is in flight
  try refuseOpenServer(options)
  let tools = try ConfiguredTools(arguments, options)
  options.toolServers = tools
  let server: Server
  do {
    server = try Server.listen(options: options)
  } catch let error as ServerError {
    throw CommandFailure(error.message)
  }
  var engineOptions = try arguments.engineOptions()
  engineOptions.makesFingerprint = true
  engineOptions.sharesPrefixes = options.prefixSharing != nil
  let receipts = try ReceiptFile(arguments)
  let engine: Engine?
  let latch: StopLatch
  if models.count > 1 {
    engine = nil
    latch = stopLatch()
    try await serve(models, arguments, engineOptions, receipts, server)
  } else {
    let loaded = try await arguments.loadEngine(engineOptions)
    latch = stopLatch()  // before a client can learn that the server is up
    try await receipts?.keep(of: loaded)
    server.serve(loaded)
    if let stages = loaded.info.pipeline { log.write("pagoda: \(stages)") }
    engine = loaded
  }
  let names = models.count > 1 ? models.map(\.name).joined(separator: ", ") : options.modelNames[0]
  // Announced first: a script that waits for the line below finds the server with pagoda ps.
  if options.unixPath == nil { ServerRecord.announce(url: server.url, model: names) }
  Terminal.write("pagoda: serving \(names) at \(server.url)\n")
  if let port = server.metricsPort { log.write("pagoda: metrics and health at port \(port)") }
  ServiceManager.notify("READY=1")
  defer { ServerRecord.withdraw() }
  await latch.wait()
  ServiceManager.notify("STOPPING=1")
  log.write("pagoda: finishing requests in flight; press again to stop immediately")
  await server.shutDown(drainSeconds: drain)
  await tools?.close()
  await engine?.shutDown()
  access?.close()
  log.close()
  receipts?.flush()
  return 0
}

/// HTTPS, if there are certificate files. SIGHUP reads them again, so that renewing them needs no restart.
private func useCertificates(
  _ arguments: Arguments, _ log: LogWriter, _ options: inout ServerOptions
) throws -> (any DispatchSourceSignal)? {
  guard let certificate = arguments.string("tls-cert"), let key = arguments.string("tls-key") else {
    if arguments.has("tls-cert") || arguments.has("tls-key") {
      throw UsageError("--tls-cert and --tls-key need each other")
    }
    return nil
  }
  let certificates: Certificates
  do {
    certificates = try Certificates(
      certificate: NSString(string: certificate).expandingTildeInPath, key: NSString(string: key).expandingTildeInPath)
  } catch let error as CertificateError {
    throw CommandFailure("--tls-cert: \(error.message)")
  }
  options.security = certificates
  signal(SIGHUP, SIG_IGN)  // before the source, which sets a handler of its own
  let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
  source.setEventHandler {
    do {
      try certificates.reload()
      log.write("pagoda: the certificate was read again")
    } catch {
      log.write("pagoda: the old certificate stays in use: \((error as? CertificateError)?.message ?? "\(error)")")
    }
  }
  source.resume()
  return source
}

/// The server refuses this too; here the message names the options.
private func refuseOpenServer(_ options: ServerOptions) throws {
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

/// One of several models, and its name in requests.
private struct NamedModel {
  var name: String
  var location: String
}

extension Arguments {
  /// The models given with `--model`, with their names; a single one stays among the arguments for later use.
  fileprivate mutating func takeNamedModels() throws -> [NamedModel] {
    let models = try (values["model"] ?? []).map { text -> NamedModel in
      // A path may contain `=`; an existing path is taken literally.
      if let mark = text.firstIndex(of: "="), !FileManager.default.fileExists(atPath: text) {
        let (name, location) = (String(text[..<mark]), String(text[text.index(after: mark)...]))
        if name.isEmpty || location.isEmpty { throw UsageError("--model is '\(text)'; it must be MODEL or NAME=MODEL") }
        return NamedModel(name: name, location: location)
      }
      var one = self
      one.values["model"] = [text]
      return NamedModel(name: one.modelFileName == "mini" ? "pagoda-mini" : one.modelFileName, location: text)
    }
    if models.count > 1 {
      for option in ["served-model-name", "pipeline", "pipeline-stages", "shape", "prefix-peers"] where has(option) {
        throw UsageError("--\(option) is for one model, and --model is given \(models.count) times")
      }
    } else if let model = models.first, values["model"] != [model.location] {
      values["model"] = [model.location]
      values["served-model-name"] = [model.name] + (values["served-model-name"] ?? [])
    }
    return models
  }
}

/// Names and aliases; each alias must refer to a given model.
private func readModelNames(
  _ arguments: Arguments, _ models: [NamedModel], into options: inout ServerOptions
) throws {
  if models.count > 1 { options.modelNames = models.map(\.name) }
  options.aliases = try (arguments.values["alias"] ?? []).map { text in
    guard let mark = text.lastIndex(of: "="), mark != text.startIndex else {
      throw UsageError("--alias is '\(text)'; it must be PATTERN=NAME")
    }
    let name = String(text[text.index(after: mark)...])
    guard options.modelNames.contains(name) else {
      throw UsageError("--alias is for '\(name)'; the models are \(options.modelNames.joined(separator: ", "))")
    }
    return ModelAlias(String(text[..<mark]), model: name)
  }
  if models.count < 2 {
    for option in ["models-memory", "unload-after"] where arguments.has(option) {
      throw UsageError("--\(option) is for several models, and there is one")
    }
  }
}

private func serve(
  _ models: [NamedModel], _ arguments: Arguments, _ options: EngineOptions, _ receipts: ReceiptFile?, _ server: Server
) async throws {
  let served = try models.map {
    ServedModel(name: $0.name, source: try namedModel($0.location), options: options, path: $0.location)
  }
  do {
    try await server.serve(
      served, memoryBytes: try arguments.bytes("models-memory"),
      unloadAfterSeconds: try arguments.integer("unload-after", in: 1...31_536_000).map(Double.init)
    ) { try await receipts?.keep(of: $0) }
  } catch let error as ServerError {
    throw CommandFailure(error.message)
  }
}

private func serverOptions(_ arguments: Arguments, _ log: LogWriter, _ access: LogWriter?) throws -> ServerOptions {
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

private func prefixSharing(_ arguments: Arguments, peers: [String]) throws -> PrefixSharing? {
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
private func accessLog(_ arguments: Arguments, _ log: LogWriter) throws -> LogWriter? {
  guard let path = arguments.string("access-log") else { return nil }
  if path == "-" { return log }
  do {
    return try LogWriter(path: path)
  } catch let error as ServerError {
    throw CommandFailure(error.message)
  }
}

/// Keys from the command line or else the environment; named keys from a file or else the environment.
private func readKeys(_ arguments: Arguments, into options: inout ServerOptions) throws {
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

/// Waits for the first SIGINT or SIGTERM; a second one ends the program.
private func stopLatch() -> StopLatch {
  let latch = StopLatch()
  Interrupts.shared.onInterrupt { latch.signal() }
  signal(SIGTERM, SIG_IGN)  // before the source, which sets a handler of its own
  let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
  source.setEventHandler { latch.signal() }
  source.resume()
  latch.keep(source)
  return latch
}

private final class StopLatch: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0
  private var waiter: CheckedContinuation<Void, Never>?
  private var source: (any DispatchSourceSignal)?

  func keep(_ source: any DispatchSourceSignal) { lock.withLock { self.source = source } }

  func signal() {
    let waiter: CheckedContinuation<Void, Never>? = lock.withLock {
      count += 1
      if count > 1 { _exit(130) }
      defer { self.waiter = nil }
      return self.waiter
    }
    waiter?.resume()
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isSignalled = lock.withLock {
        if count == 0 { waiter = continuation }
        return count > 0
      }
      if isSignalled { continuation.resume() }
    }
  }
}
