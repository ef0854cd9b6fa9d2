// http_threads: runs the HTTP server with many threads, for the thread sanitizer. Work runs on the server's queue, streams come from
// separate threads; clients read everything, disconnect early, stop half way or exceed the limit; and the server stops while they
// send requests. Then every pair of operations that other threads may call runs concurrently on one object.
import Foundation

// The declarations of the server that the HTTP files need.
enum StreamEvent: Sendable {}
final class AccessRecord: Sendable {}
struct APIError: Sendable {
  static let shuttingDown = APIError()
  static let tooSlow = APIError()
}
func randomID(_ prefix: String) -> String { prefix + String(UInt64.random(in: 0...UInt64.max), radix: 36) }

private struct LineEncoder: StreamEncoder {
  mutating func opening() -> String { "begin\n" }
  mutating func encode(_ item: StreamItem) -> (text: String, isLast: Bool) {
    switch item {
    case .event: ("", false)
    case .text(let text): (text, false)
    case .keepAlive: ("alive\n", false)
    case .cut: ("end\n", true)
    }
  }
}

private final class Service: HTTPService, @unchecked Sendable {
  private let lock = NSLock()
  private var statuses: [Int: Int] = [:]  // guarded by `lock`

  var counts: [Int: Int] { lock.withLock { statuses } }

  func action(for request: HTTPRequest) -> HTTPAction {
    switch request.path {
    case "/quick": .respond(HTTPResponse(type: "text/plain", body: Array("quick".utf8)))
    case "/stream": .work(stream)
    default: .work { $0.reply(.whole(HTTPResponse(type: "text/plain", body: $0.request.body))) }
    }
  }

  private func stream(_ exchange: Exchange) {
    let body = StreamBody(LineEncoder(), maximumPending: 64) { exchange.abandon() }
    let hasLeft = Flag()
    exchange.onGone { hasLeft.set() }
    exchange.reply(.stream([], body))
    Thread {
      for number in 0..<100 where !hasLeft.isSet {
        body.push(.text("\(number)\n"))
        if number % 20 == 0 { usleep(1000) }
      }
      body.push(.cut(.shuttingDown))
    }.start()
  }

  func bodyTooLarge(_ request: HTTPRequest) -> HTTPResponse { HTTPResponse(status: 413, type: "text/plain", body: []) }
  func refusal(of request: HTTPRequest, _ error: FramingError) -> HTTPResponse {
    HTTPResponse(status: error.status, type: "text/plain", body: [])
  }
  func sender(of request: HTTPRequest) -> String { request.path }
  func headers(for exchange: Exchange) -> [HTTPHeader] { [] }
  func trace(of request: HTTPRequest) -> TraceContext? { nil }
  func finished(_ exchange: Exchange) { lock.withLock { statuses[exchange.status, default: 0] += 1 } }
}

private final class Flag: @unchecked Sendable {
  private let lock = NSLock()
  private var value = false  // guarded by `lock`

  var isSet: Bool { lock.withLock { value } }
  func set() { lock.withLock { value = true } }
}

/// Sends one request; the number selects its kind.
private func ask(_ port: UInt16, _ number: Int) throws {
  let client = try HTTPClient(host: "127.0.0.1", port: port, timeout: 60)
  switch number % 6 {
  case 0:
    for _ in 0..<3 {
      try client.request("POST", "/echo", body: "text")
      _ = try client.response()
    }
  case 1:
    try client.request("GET", "/stream")
    _ = try client.response()
  case 2:
    try client.request("GET", "/stream")  // disconnects at once
  case 3:
    try client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
    usleep(500)
  case 4:
    let end = " HTTP/1.1\r\nHost: localhost\r\n\r\n"
    try client.send("GET /quick\(end)GET /stream\(end)nonsense\r\n")
    for _ in 0..<3 { _ = try client.response() }
  default:
    try client.request("POST", "/echo", body: String(repeating: "x", count: 200_000))
    _ = try client.response()
  }
}

/// Runs many concurrent clients; with `stopsEarly` the server stops while they still send requests.
private func round(stopsEarly: Bool) throws -> [Int: Int] {
  var limits = HTTPLimits()
  limits.connections = 12
  limits.keepAliveSeconds = 0.001
  let service = Service()
  let server = HTTPServer(service, limits: limits)
  try server.start(host: "127.0.0.1", port: 0)
  let (port, clients) = (server.port, DispatchGroup())
  for index in 0..<16 {
    clients.enter()
    Thread {
      for number in 0..<30 { try? ask(port, index + number) }
      clients.leave()
    }.start()
  }
  if stopsEarly {
    while service.counts[200] ?? 0 < 50 { usleep(1000) }
  } else {
    clients.wait()
  }
  server.stopAccepting()
  server.stop(cutWith: HTTPResponse(status: 503, type: "text/plain", body: []))
  clients.wait()
  return service.counts
}

/// Runs each operation on its own thread. Only the locks that an operation takes order it with the others, so a race is
/// detected even if no two operations run at the same moment.
private func together(_ operations: [@Sendable () -> Void]) {
  let threads = DispatchGroup()
  for operation in operations.shuffled() {
    threads.enter()
    Thread {
      operation()
      threads.leave()
    }.start()
  }
  threads.wait()
}

/// Runs two operations on a new object, each on its own thread, in either order.
private func meet<Object: Sendable>(
  _ first: [@Sendable (Object) -> Void], _ second: [@Sendable (Object) -> Void], on make: () -> Object
) {
  for one in first {
    for other in second {
      for _ in 0..<8 {
        let object = make()
        together([{ one(object) }, { other(object) }])
      }
    }
  }
}

private let refusal = HTTPResponse(status: 503, type: "text/plain", body: [])

private func exchangesMeet() {
  let operations: [@Sendable (Exchange) -> Void] = [
    { $0.reply(.whole(refusal)) }, { $0.reply(.stream([], StreamBody(LineEncoder(), maximumPending: 4) {})) },
    { $0.onGone {} }, { $0.abandon() }, { $0.leave(with: refusal) }, { $0.complete() }, { $0.cut(with: refusal) },
    { $0.attach {} }, { _ = $0.next() }, { _ = $0.status },
  ]
  meet(operations, operations) {
    Exchange(HTTPRequest(method: "GET", path: "/", headers: []), action: .respond(refusal), maximumBody: 9)
  }
}

private func streamsMeet() {
  let ofAny: [@Sendable (StreamBody) -> Void] = [{ $0.push(.text("x")) }, { $0.close() }, { $0.attach {} }]
  let ofTheLoop: [@Sendable (StreamBody) -> Void] = [
    { _ = $0.isBroken }, { _ = $0.silentSince },
    { while $0.read() != nil {} },
  ]
  meet(ofAny, ofAny + ofTheLoop) { StreamBody(LineEncoder(), maximumPending: 4) {} }
}

private func loadsMeet() {
  let readers: [@Sendable (ConnectionLoad) -> Void] = [
    { _ = $0.connections }, { _ = $0.exchanges }, { _ = $0.bodyBytes },
  ]
  let add: @Sendable (ConnectionLoad) -> Void = { $0.add(connections: 1, exchanges: 1, bodyBytes: 1) }
  meet([add], readers + [add]) { ConnectionLoad() }
}

private func context(_ mailbox: Mailbox) -> ConnectionContext {
  let limits = HTTPLimits()
  return ConnectionContext(
    service: Service(), limits: limits, mailbox: mailbox, load: ConnectionLoad(), addresses: AddressLimits(limits)
  ) { _, _ in }
}

private func mailboxesMeet() {
  let ofAny: [@Sendable (Mailbox) -> Void] = [
    { $0.post(Connection(socket: -1, address: "", context($0), now: 0)) }, { $0.wake() },
  ]
  meet(ofAny, ofAny + [{ _ = $0.take() }, { $0.close() }]) { Mailbox()! }
}

/// Threads that are not synchronised with the loop or with each other tell it to end.
private func endsMeet() throws {
  for _ in 0..<8 {
    let listener = try SocketAddress.resolve(host: "127.0.0.1", port: 0).listener()
    let loop = EventLoop(listener: listener, poller: Pollers.make()!, context(Mailbox()!))
    loop.start()
    together([{ loop.stopAccepting() }, { loop.stopAccepting() }, { loop.stop(cutWith: refusal) }])
  }
}

@main struct Main {
  static func main() throws {
    signal(SIGPIPE, SIG_IGN)
    for stopsEarly in [false, true] {
      let counts = try round(stopsEarly: stopsEarly)
      print(counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
      precondition(counts[200] ?? 0 >= 50, "clients were not answered")
    }
    exchangesMeet()
    streamsMeet()
    loadsMeet()
    mailboxesMeet()
    try endsMeet()
  }
}
