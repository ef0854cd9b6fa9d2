// pagoda bench serve: load on any server that speaks OpenAI's completions, with vLLM's options and table.
import Foundation
import PagodaKit
import PagodaServer

extension Command {
  static let benchServe = Command(
    name: "bench serve",
    summary: "Sends load to a running server and measures it.",
    operands: "",
    notes: """
      Prompts of `random` are token ids, so that every server processes the same number of tokens. Times are measured by
      the client: TTFT is the time to the first token, TPOT the mean time per token after it, ITL the time between tokens.
      Behind a router, servers started with --replica-name are reported separately, with the share of prompt tokens that
      each found in its prefix cache.
      """,
    groups: [
      OptionGroup(
        "Server",
        [
          Option("base-url", value: "URL", help: "the server (default http://127.0.0.1:8080)"),
          Option("endpoint", value: "PATH", help: "/v1/completions (default) or /v1/chat/completions"),
          Option("model", short: "m", value: "NAME", help: "model to ask for (default: the server's first)"),
          Option("api-key", value: "KEY", help: "sent as a bearer token"),
        ]),
      OptionGroup(
        "Load",
        [
          Option("num-prompts", value: "N", help: "number of requests (default 100)"),
          Option("request-rate", value: "R", help: "requests per second, Poisson; inf (default) sends all at once"),
          Option("max-concurrency", value: "N", help: "requests at once at most (default: all)"),
          Option(
            "dataset-name", value: "NAME", help: "random (default), prefix_repetition, sharegpt, or builtin questions"),
          Option("dataset-path", value: "FILE", help: "a ShareGPT file, for sharegpt"),
          Option("random-input-len", value: "N", help: "tokens of a random prompt (default 128)"),
          Option("random-output-len", value: "N", help: "tokens of an answer (default 64)"),
          Option(
            "prefix-repetition-num-prefixes", value: "N",
            help: "beginnings that prompts share, --random-input-len after them (10)"),
          Option("prefix-repetition-prefix-len", value: "N", help: "tokens of each (default 256)"),
          Option("vocab-size", value: "N", help: "random token ids are below this (default 4000)"),
          Option("ignore-eos", help: "answers continue after the end of text; always so for random"),
          Option("seed", value: "N", help: "of prompts and arrival times (default 0)"),
          Option("json", help: "print one JSON object instead of the table"),
          Option("plot", value: "FILE", help: "also draw tokens per second over time, as an SVG picture"),
        ]),
    ],
    run: runServeBench)
}

private func runServeBench(_ arguments: Arguments) async throws -> Int32 {
  try arguments.refusePositionals()
  signal(SIGPIPE, SIG_IGN)
  if let file = arguments.string("plot") { try Terminal.write("", toFile: file) }  // fail now rather than after minutes
  let load = try ServeLoad(arguments)
  let target = try ServeTarget(arguments)
  let model = try arguments.string("model") ?? target.firstModel()
  let prompts = try load.prompts()
  let progress = ProgressLine("\(prompts.count) requests")
  let (results, seconds) = await load.run(prompts, target: target, model: model) { progress.show($0) }
  progress.clear()
  let report = ServeReport(results: results, seconds: seconds, load: load)
  if let file = arguments.string("plot") {
    let subtitle = "\(model) at \(target.hostHeader) · \(prompts.count) requests, \(load.concurrency) at once"
    let spans = results.filter { $0.error == nil }.map { result in
      ServePlot.Span(
        begin: result.begin, end: result.begin + result.end, tokens: result.tokenTimes.map { result.begin + $0 })
    }
    try Terminal.write(ServePlot.chart(spans, seconds: seconds, subtitle: subtitle), toFile: file)
  }
  Terminal.write(arguments.has("json") ? report.json.text + "\n" : report.table(width: Style.width(of: STDOUT_FILENO)))
  return results.contains { $0.error == nil } ? 0 : 1
}

/// The server that receives the requests.
struct ServeTarget: Sendable {
  var host: String
  var port: UInt16
  var path: String
  var key: String?

  init(_ arguments: Arguments) throws {
    let text = arguments.string("base-url") ?? "http://127.0.0.1:8080"
    guard let url = URL(string: text), url.scheme == "http", let host = url.host else {
      throw UsageError("--base-url is '\(text)'; it must be http://HOST:PORT (https is not supported)")
    }
    self.host = host
    port = UInt16(clamping: url.port ?? 80)
    path = try arguments.choice("endpoint", of: ["/v1/completions", "/v1/chat/completions"]) ?? "/v1/completions"
    key = arguments.string("api-key")
  }

  var isChat: Bool { path == "/v1/chat/completions" }
  var headers: [String: String] { key.map { ["Authorization": "Bearer \($0)"] } ?? [:] }
  var hostHeader: String { "\(host):\(port)" }

  func firstModel() throws -> String {
    do {
      let client = try HTTPClient(host: host, port: port, timeout: 30)
      try client.request("GET", "/v1/models", host: hostHeader, headers: headers)
      let answer = try client.response()
      guard answer.status == 200,
        let name = JSONValue.parse(answer.text)?["data"]?.arrayValue?.first?["id"]?.stringValue
      else { throw CommandFailure("the server's list of models cannot be read; give --model") }
      return name
    } catch let error as ServerError {
      throw CommandFailure("\(error.message); `pagoda serve` starts a server, and --base-url names another one")
    }
  }
}
