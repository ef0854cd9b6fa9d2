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
      Other machines are let in only with --api-key (or the variable PAGODA_API_KEY), or with --insecure. Ctrl-C and
      SIGTERM stop taking requests and let those in flight finish; a second one ends at once. While the model loads,
      /health and requests are answered with status 503; the line with the address comes when it has loaded.
      """,
    groups: [
      OptionGroup(
        "Options",
        [
          SharedOptions.model, SharedOptions.shape,
          Option("host", value: "ADDRESS", help: "where to listen (default 127.0.0.1, this machine only)"),
          Option("port", value: "N", help: "port (default 8080), 0 picks a free one"),
          Option("api-key", value: "KEY", help: "requests must bring this key; may be repeated"),
          Option("insecure", help: "listen beyond this machine without a key"),
          Option("served-model-name", value: "NAME", help: "what requests call the model; may be repeated"),
          Option("replica-name", value: "NAME", help: "sent as x-pagoda-replica with answers, for use behind a router"),
          Option("max-queue", value: "N", help: "answers that may wait; more get status 429 (default 256)"),
          Option("max-connections", value: "N", help: "connections at once (default 256)"),
          Option("max-body", value: "SIZE", help: "largest request (default 16MiB)"),
          Option(
            "drain", value: "SECONDS", help: "how long answers in flight may take to finish at the end (default 30)"),
          Option("access-log", help: "a line on standard error for each request, without its content"),
        ]),
      SharedOptions.engine,
    ],
    run: runServe)
}

private func runServe(_ arguments: Arguments) async throws -> Int32 {
  try arguments.refusePositionals()
  let options = try serverOptions(arguments)
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
  let engine = try await arguments.loadEngine(engineOptions)
  server.serve(engine)
  Terminal.write("pagoda: serving \(options.modelNames[0]) at \(server.url)\n")
  ServerRecord.announce(url: server.url, model: options.modelNames[0])
  defer { ServerRecord.withdraw() }
  await stopSignal()
  Terminal.writeError("pagoda: finishing requests in flight; press again to end at once\n")
  await server.shutDown(drainSeconds: drain)
  await engine.shutDown()
  return 0
}

private func serverOptions(_ arguments: Arguments) throws -> ServerOptions {
  var options = ServerOptions()
  if let host = arguments.string("host") { options.host = host }
  if let port = try arguments.integer("port", in: 0...65535) { options.port = UInt16(port) }
  options.apiKeys = arguments.values["api-key"] ?? []
  if options.apiKeys.isEmpty, let key = ProcessInfo.processInfo.environment["PAGODA_API_KEY"], !key.isEmpty {
    options.apiKeys = [key]
  }
  if options.apiKeys.contains("") { throw UsageError("--api-key is empty") }
  options.secretFolder = try arguments.folder("prefix-cache-dir")
  options.isInsecure = arguments.has("insecure")
  let name = arguments.modelFileName
  options.modelNames = arguments.values["served-model-name"] ?? (name == "mini" ? ["pagoda-mini", name] : [name])
  options.modelPath = arguments.modelName
  if let name = arguments.string("replica-name") {
    guard !name.isEmpty, name.utf8.count <= 100, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw UsageError("--replica-name must be 1 to 100 letters, digits and signs without spaces")
    }
    options.replicaName = name
  }
  if let count = try arguments.integer("max-queue", in: 0...1_000_000) { options.maximumWaiting = Int(count) }
  if let count = try arguments.integer("max-connections", in: 1...60000) { options.maximumConnections = Int(count) }
  if let size = try arguments.bytes("max-body") { options.maximumBodyBytes = Int(min(size, 1 << 30)) }
  options.eventLog = { Terminal.writeError("pagoda: \($0)\n") }
  if arguments.has("access-log") { options.accessLog = { Terminal.writeError($0 + "\n") } }
  return options
}

/// Returns at the first SIGINT or SIGTERM; the next one ends the program.
private func stopSignal() async {
  let latch = StopLatch()
  Interrupts.shared.onInterrupt { latch.signal() }
  signal(SIGTERM, SIG_IGN)  // before the source, which sets a handler of its own
  let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
  source.setEventHandler { latch.signal() }
  source.resume()
  latch.keep(source)
  await latch.wait()
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
