// pagoda top: the current activity of a server in the terminal, from its /metrics and its stream of step events.
import Foundation
import PagodaKit
import PagodaServer

extension Command {
  static let top = Command(
    name: "top",
    summary: "Shows a server's activity: requests, memory, cache hits, tokens per second.",
    operands: "[URL]",
    notes: """
      URL is the server's address (default: the server that pagoda ps lists, or http://127.0.0.1:8080). It shows
      a line for each request: waiting, reading, answering or preempted. The server's /status page shows the same.
      Ctrl-C leaves. Without a terminal it prints one sample and exits.
      """,
    groups: [
      OptionGroup(
        "Options",
        [
          Option("api-key", value: "KEY", help: "the key of the server (default: PAGODA_API_KEY)"),
          Option("interval", value: "MS", help: "milliseconds between updates (default 1000)"),
          Option("count", value: "N", help: "exit after N updates"),
        ])
    ],
    run: runTop)
}

private func runTop(_ arguments: Arguments) async throws -> Int32 {
  guard arguments.positionals.count <= 1 else { throw UsageError("name one server") }
  let text = arguments.positionals.first ?? ServerRecord.running().first?.url ?? "http://127.0.0.1:8080"
  guard let url = URL(string: text), url.scheme == "http", let host = url.host else {
    throw UsageError("'\(text)' is not an address such as http://127.0.0.1:8080")
  }
  let port = UInt16(clamping: url.port ?? 80)
  let key = arguments.string("api-key")
  let interval = try arguments.integer("interval", in: 50...60000) ?? 1000
  let isLive = Terminal.outputIsTerminal && Style.canMoveCursor
  let count = try arguments.integer("count", in: 1...1_000_000) ?? (isLive ? Int64.max : 1)
  let lanes = LaneStream(host: host, port: port, key: key)
  var last: ServerReading?
  var rates: [Double] = []
  for index in 0..<count {
    try Task.checkCancellation()
    let reading = try readMetrics(host: host, port: port, key: key)
    if let last {
      rates.append(reading.rate(of: "pagoda:generated_tokens_total", since: last))
      rates = rates.suffix(60)
    }
    let width = Style.width(of: STDOUT_FILENO) ?? 80
    var lines = reading.lines(since: last, rates: rates, url: text, width: width).flatMap {
      wrapped($0, width: width).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
    let rows = isLive ? max((Style.height(of: STDOUT_FILENO) ?? 24) - lines.count - 2, 3) : 128
    if let event = isLive ? lanes.latest : lanes.settled() { lines += event.lines(width: width, rows: rows) }
    Terminal.write((isLive ? "\u{1B}[H\u{1B}[2J" : "") + lines.joined(separator: "\n") + "\n")
    last = reading
    if index + 1 < count { try await Task.sleep(for: .milliseconds(interval)) }
  }
  return 0
}

private func readMetrics(host: String, port: UInt16, key: String?) throws -> ServerReading {
  do {
    let client = try HTTPClient(host: host, port: port, timeout: 10)
    let headers = key.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    try client.send("GET /metrics HTTP/1.1\r\nHost: \(host):\(port)\r\n\(headers)Connection: close\r\n\r\n")
    let response = try client.response()
    guard response.status == 200 else {
      throw CommandFailure("http://\(host):\(port)/metrics answers with status \(response.status)")
    }
    return ServerReading(metrics: response.text)
  } catch let error as CommandFailure {
    throw error
  } catch {
    throw CommandFailure("no server responds at http://\(host):\(port); pagoda ps lists the servers on this machine")
  }
}
