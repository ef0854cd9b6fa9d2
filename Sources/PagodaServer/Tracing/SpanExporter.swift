// SpanExporter: sends finished requests as spans to an OpenTelemetry collector, as OTLP/HTTP in JSON, from a separate
// thread. The collector may stall; the server must not: what it does not take in time is dropped and counted.
import Foundation
import PagodaKit

final class SpanExporter: @unchecked Sendable {
  struct Counts: Sendable {
    var sent = 0
    var dropped = 0
  }

  /// Maximum requests that wait, and that are sent together.
  static let maximumWaiting = 4096
  private static let batch = 256
  /// Seconds for which the collector may delay a batch.
  private static let timeout = 10.0

  private let host: String
  private let port: UInt16
  private let path: String
  private let resource: JSONValue
  private let condition = NSCondition()
  // Guarded by `condition`.
  private var waiting: [RequestSpans] = []
  private var stored = Counts()
  private var isSending = false
  private var isClosed = false

  /// The collector's address, such as `http://localhost:4318`; its path is `/v1/traces` unless it has one.
  init(_ url: String, replica: String?) throws {
    guard let parts = URLComponents(string: url), parts.scheme == "http", let host = parts.host, !host.isEmpty,
      let port = UInt16(exactly: parts.port ?? 4318), parts.query == nil
    else { throw ServerError("'\(url)' is not a collector of spans; it must be like http://host:4318") }
    self.host = host
    self.port = port
    path = ["", "/"].contains(parts.path) ? "/v1/traces" : parts.path
    var attributes: [(String, JSONValue)] = [
      ("service.name", .string("pagoda")), ("service.version", .string(PagodaVersion.current)),
    ]
    if let replica { attributes.append(("service.instance.id", .string(replica))) }
    resource = .object(["attributes": RequestSpans.attributes(attributes)])
    let thread = Thread { [weak self] in
      while let next = self?.next() { self?.send(next) }
    }
    thread.name = "pagoda-spans"
    thread.start()
  }

  var counts: Counts { condition.withLock { stored } }

  /// Called by the event loop; returns immediately.
  func add(_ exchange: Exchange) {
    guard let spans = RequestSpans(exchange) else { return }
    condition.withLock {
      if isClosed || waiting.count >= Self.maximumWaiting {
        stored.dropped += spans.count
      } else {
        waiting.append(spans)
        condition.broadcast()
      }
    }
  }

  /// Accepts no more spans, and allows this many seconds for sending the queued ones.
  func close(within seconds: Double) {
    let end = Date(timeIntervalSinceNow: seconds)
    condition.withLock {
      isClosed = true
      condition.broadcast()
      while (isSending || !waiting.isEmpty) && condition.wait(until: end) {}
    }
  }

  /// Waits for spans; nil when there will be no more.
  private func next() -> [RequestSpans]? {
    condition.withLock {
      isSending = false
      condition.broadcast()
      while waiting.isEmpty && !isClosed { condition.wait() }
      if waiting.isEmpty { return nil }
      isSending = true
      let next = Array(waiting.prefix(Self.batch))
      waiting.removeFirst(next.count)
      return next
    }
  }

  private func send(_ requests: [RequestSpans]) {
    let spans = requests.flatMap(\.json)
    let scope = JSONValue.object(["name": .string("pagoda"), "version": .string(PagodaVersion.current)])
    let body = JSONValue.object([
      "resourceSpans": .array([
        .object([
          "resource": resource,
          "scopeSpans": .array([.object(["scope": scope, "spans": .array(spans)])]),
        ])
      ])
    ]).text
    var isTaken = false
    if let client = try? HTTPClient(host: host, port: port, timeout: Self.timeout) {
      isTaken = (try? post(body, client)) ?? false
    }
    condition.withLock {
      if isTaken { stored.sent += spans.count } else { stored.dropped += spans.count }
    }
  }

  /// A collector that takes one byte at a time is cut off, too.
  private func post(_ body: String, _ client: HTTPClient) throws -> Bool {
    let cut = DispatchWorkItem { client.close() }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.timeout, execute: cut)
    defer { cut.cancel() }
    try client.request("POST", path, host: "\(host):\(port)", headers: ["Connection": "close"], body: body)
    return (200...299).contains(try client.response().status)
  }
}
