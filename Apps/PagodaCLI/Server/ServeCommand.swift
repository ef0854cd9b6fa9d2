// pagoda serve: serves an engine to other programs over HTTP.
import Foundation
import PagodaKit
import PagodaServer

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
    let loaded = try await arguments.loadEngine(engineOptions, isLogged: true)
    latch = stopLatch()  // before a client can learn that the server is up
    try await receipts?.keep(of: loaded)
    server.serve(loaded)
    if let load = loaded.info.load { log.write(Terminal.fitted("pagoda: \(loadText(arguments.modelName, load))")) }
    if let stages = loaded.info.pipeline { log.write(Terminal.fitted("pagoda: \(stages)")) }
    engine = loaded
  }
  let names = models.count > 1 ? models.map(\.name).joined(separator: ", ") : options.modelNames[0]
  // Announced first: a script that waits for the line below finds the server with pagoda ps.
  if options.unixPath == nil { ServerRecord.announce(url: server.url, model: names) }
  Terminal.say("pagoda: serving \(names) at \(server.url)")
  if let port = server.metricsPort { log.write(Terminal.fitted("pagoda: metrics and health at port \(port)")) }
  ServiceManager.notify("READY=1")
  defer { ServerRecord.withdraw() }
  await latch.wait()
  ServiceManager.notify("STOPPING=1")
  log.write(Terminal.fitted("pagoda: finishing requests in flight; press again to stop immediately"))
  await server.shutDown(drainSeconds: drain)
  await tools?.close()
  await engine?.shutDown()
  access?.close()
  log.close()
  receipts?.flush()
  return 0
}
