// pagoda serve: an engine for other programs, over HTTP.
import Foundation
import PagodaKit
import PagodaServer

extension Command {
  static let serve = Command(
    name: "serve",
    summary: "Serves a model over HTTP: OpenAI's, Anthropic's and Ollama's APIs, and a chat page.",
    operands: "",
    notes: """
      Other machines are let in only with --api-key (or the variable PAGODA_API_KEY), --api-key-file (or the lines
      of it in PAGODA_API_KEYS), or with --insecure. Ctrl-C and
      SIGTERM stop taking requests and let those in flight finish; a second one ends at once. While the model loads,
      /health and requests are answered with status 503; the line with the address comes when it has loaded.
      Several models: --model small=DIR --model large=DIR. Each is loaded when it is first asked for; where the memory does
      not suffice for all, those not used for longest are unloaded.
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
          Option("port", value: "N", help: "port (default 8080), 0 picks a free one"),
          Option("unix", value: "PATH", help: "listen on a socket in the file system instead"),
          Option("api-key", value: "KEY", help: "requests must bring this key; may be repeated"),
          Option(
            "api-key-file", value: "FILE",
            help: "keys with names and limits: lines of `name key [requests/min tokens/min share]`"),
          Option("insecure", help: "listen beyond this machine without a key"),
          Option("allowed-hosts", value: "NAMES", help: "further names of the server, such as host.docker.internal"),
          Option("allowed-origins", value: "ORIGINS", help: "web pages that may use it, such as tauri://localhost"),
          Option("served-model-name", value: "NAME", help: "what requests call the model; may be repeated"),
          Option(
            "alias", value: "PATTERN=NAME", help: "a further name of a model, such as 'claude-*=small'; may be repeated"
          ),
          Option("models-memory", value: "SIZE", help: "memory of all models loaded at once (default: the device's)"),
          Option(
            "unload-after", value: "SECONDS", help: "unload models not used for so long (default: when room is needed)"),
          SharedOptions.pooling,
          Option(
            "rerank", value: "HOW",
            help: "/v1/rerank: cosine, yes-no (as Qwen3-Reranker), or auto (default: by the model's name)"),
          Option("replica-name", value: "NAME", help: "sent as x-pagoda-replica with answers, for use behind a router"),
          Option("prefix-peers", value: "URLS", help: "fetch prefixes from these servers: http://host:8080,..."),
          Option(
            "prefix-secret", value: "FILE",
            help: "share prefixes with servers that have the same file (32 bytes or more)"),
          Option(
            "prefix-peer-share", value: "X", help: "a fetch may take this share of computing the same (default 0.25)"),
          Option("max-queue", value: "N", help: "answers that may wait; more get status 429 (default 256)"),
          Option("max-connections", value: "N", help: "connections at once (default 1024, or more than can wait)"),
          Option(
            "max-connections-per-address", value: "N", help: "of one address (default: half of all; no limit here)"),
          Option("max-requests-per-address", value: "N", help: "in flight from one address (default: no limit)"),
          Option("max-body", value: "SIZE", help: "largest request (default 16MiB)"),
          Option(
            "drain", value: "SECONDS", help: "how long answers in flight may take to finish at the end (default 30)"),
          Option("responses-file", value: "FILE", help: "keep what /v1/responses stores over restarts"),
          Option("receipts", value: "FILE", help: "append what pagoda replay needs to check each answer"),
          Option("receipts-prompts", help: "with the prompts, as token ids"),
          Option(
            "access-log", value: "FILE",
            help: "a line of JSON for each request, without its content; - is standard error"),
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
  let log = LogWriter(file: STDERR_FILENO)  // what reads it may stop; the server must not
  let access = try accessLog(arguments, log)
  var options = try serverOptions(arguments, log, access)
  try readModelNames(arguments, models, into: &options)
  if models.count < 2, arguments.modelFileName == "mini" { options.suggestions = await suggestions() }
  let drain = Double(try arguments.integer("drain", in: 0...86400) ?? 30)
  signal(SIGPIPE, SIG_IGN)
  signal(SIGTERM) { _ in _exit(0) }  // while the model loads, nothing is in flight
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
    latch = stopLatch()  // before a client can know that it may ask
    try await receipts?.keep(of: loaded)
    server.serve(loaded)
    if let stages = loaded.info.pipeline { log.write("pagoda: \(stages)") }
    engine = loaded
  }
  let names = models.count > 1 ? models.map(\.name).joined(separator: ", ") : options.modelNames[0]
  Terminal.write("pagoda: serving \(names) at \(server.url)\n")
  if options.unixPath == nil { ServerRecord.announce(url: server.url, model: names) }
  defer { ServerRecord.withdraw() }
  await latch.wait()
  log.write("pagoda: finishing requests in flight; press again to end at once")
  await server.shutDown(drainSeconds: drain)
  await engine?.shutDown()
  access?.close()
  log.close()
  receipts?.flush()
  return 0
}

/// A model of several, and the name that requests call it by.
private struct NamedModel {
  var name: String
  var location: String
}

extension Arguments {
  /// The models given with `--model`, with their names; a single one stays among the arguments for later readers.
  fileprivate mutating func takeNamedModels() throws -> [NamedModel] {
    let models = try (values["model"] ?? []).map { text -> NamedModel in
      // A path may have a `=` in it; one that is there is meant as it stands.
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

/// Names and aliases; each alias is for a model that is there.
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
  if let host = arguments.string("host") { options.host = host }
  if let port = try arguments.integer("port", in: 0...65535) { options.port = UInt16(port) }
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
    throw UsageError("--prefix-secret needs --prefix-cache-dir: the files in it are what is shared")
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

/// Where requests are logged; standard error's own writer for `-`.
private func accessLog(_ arguments: Arguments, _ log: LogWriter) throws -> LogWriter? {
  guard let path = arguments.string("access-log") else { return nil }
  if path == "-" { return log }
  do {
    return try LogWriter(path: path)
  } catch let error as ServerError {
    throw CommandFailure(error.message)
  }
}

/// From the command line, or else from the environment; those with names from a file, or else from the environment.
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

/// Waits for the first SIGINT or SIGTERM; the next one ends the program.
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
