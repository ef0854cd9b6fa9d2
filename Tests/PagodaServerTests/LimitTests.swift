// Limits: one client, address or key cannot take what the others need, and a full server reports that.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@testable import PagodaServer

@Suite(.serialized, .ownThread) struct LimitTests {
  private func busy(_ server: Server) throws -> HTTPClient {
    let client = try server.client()
    try client.request("POST", "/v1/chat/completions", body: Shared.endless())
    return client
  }

  private func status(_ client: HTTPClient, _ path: String = "/health") -> Int? {
    try? client.request("GET", path)
    return (try? client.response())?.status
  }

  @Test func idle_connections_make_room_the_oldest_first() async throws {
    let server = try await Shared.start { $0.maximumConnections = 4 }
    let clients = try (0..<4).map { _ in try server.client() }
    for client in clients { #expect(status(client) == 200) }
    let newcomer = try server.client()
    #expect(status(newcomer, "/v1/models") == 200)
    #expect(server.load.connections == 4)
    #expect(clients.map { status($0) } == [nil, 200, 200, 200])
    #expect(status(newcomer) == 200)
    await server.shutDown()
  }

  @Test func half_sent_heads_make_room_too() async throws {
    let server = try await Shared.start {
      $0.maximumConnections = 4
      $0.headerSeconds = 3600
    }
    let clients = try (0..<4).map { _ in try server.client() }
    for client in clients { try client.send("GET /health HTTP/1.1\r\nX: ") }
    #expect(try await eventually { server.load.connections == 4 })
    for _ in 0..<8 { #expect(try server.get("/v1/models").status == 200) }
    await server.shutDown(drainSeconds: 0)
  }

  @Test func half_sent_bodies_make_room_too() async throws {
    let server = try await Shared.start {
      $0.maximumConnections = 4
      $0.bodySeconds = 3600
    }
    let clients = try (0..<4).map { _ in try server.client() }
    let head =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      + "Content-Length: 9\r\n\r\n{"
    for client in clients { try client.send(head) }
    // One address may have three of four connections, so the fourth has replaced one of the same address.
    #expect(
      try await eventually {
        (try? server.get("/metrics"))?.text.contains("pagoda:http_responses_total{status=\"408\"} 1") == true
      })
    var attackers: [HTTPClient] = []
    for _ in 0..<20 {
      let attacker = try server.client()
      try attacker.send(head)
      attackers.append(attacker)
      #expect(try server.get("/v1/models").status == 200)
      #expect(try server.chat(Shared.chat("Hello!", ",\"max_tokens\":1")).status == 200)
    }
    #expect(server.load.connections <= 4 && attackers.count == 20)
    for client in clients {
      let evicted = try client.response()
      #expect(evicted.status == 408 && evicted.error["message"]?.stringValue?.contains("full") == true)
    }
    await server.shutDown(drainSeconds: 0)
  }

  @Test func a_server_full_of_requests_still_reports_its_health() async throws {
    let engine = try await Engine.load(.mini)
    var options = ServerOptions()
    options.port = 0
    options.maximumConnections = 2
    let server = try Server.start(engine, options: options)
    let clients = try (0..<2).map { _ in try busy(server) }
    #expect(try await eventually { engine.statistics.running == 2 })
    for _ in 0..<3 {
      let health = try server.get("/health")
      #expect(health.status == 200 && health.headers["connection"] == "close")
      let refused = try server.get("/v1/models")
      #expect(refused.status == 429 && refused.headers["retry-after"] != nil)
      #expect(refused.error["code"]?.stringValue == "rate_limit_exceeded")
    }
    #expect(clients.count == 2)
    await server.shutDown(drainSeconds: 0)
    await engine.shutDown()
  }

  @Test func connections_and_requests_of_an_address_are_limited() async throws {
    let server = try await Shared.start {
      $0.maximumConnectionsPerAddress = 3
      $0.maximumRequestsPerAddress = 2
    }
    let first = try busy(server)
    let second = try busy(server)
    _ = try first.firstBytes()
    _ = try second.firstBytes()
    let refused = try server.chat(Shared.chat("Hello!"))
    #expect(refused.status == 429 && refused.error["message"]?.stringValue?.contains("in flight") == true)
    let idle = try server.client()
    #expect(status(idle, "/v1/models") == 200)
    let next = try server.client()  // replaces the idle one
    #expect(status(next, "/v1/models") == 200 && status(idle) == nil)
    await server.shutDown(drainSeconds: 0)
  }

  @Test func without_a_limit_given_this_machine_has_none() {
    var limits = HTTPLimits()
    limits.connections = 4
    let addresses = AddressLimits(limits)
    for address in ["127.0.0.1", "::1", "", "192.0.2.1", "::ffff:127.0.0.1"] { addresses.add(address, connections: 2) }
    #expect(addresses.isFull("192.0.2.1") && !addresses.isFull("192.0.2.2"))
    #expect(!["127.0.0.1", "::1", "", "::ffff:127.0.0.1"].contains { addresses.isFull($0) })
    addresses.add("192.0.2.1", connections: -1)
    #expect(!addresses.isFull("192.0.2.1"))
  }

  @Test func bodies_in_flight_are_bounded_together() async throws {
    let server = try await Shared.start {
      $0.maximumBodyBytes = 10_000
      $0.allBodyBytes = 12_000
      $0.bodySeconds = 3600
    }
    let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    let half = head + "Content-Length: 9000\r\n\r\n" + String(repeating: " ", count: 8000)
    let first = try server.client()
    try first.send(half)
    #expect(try await eventually { server.bodyBytes == 8000 })
    let second = try server.client()
    try second.send(half)  // the slower one is disconnected
    let refused = try first.response()
    #expect(refused.status == 429 && refused.error["message"]?.stringValue?.contains("together") == true)
    #expect(try await eventually { server.bodyBytes == 8000 })
    // A complete request is never refused because of an incomplete one.
    let large = Shared.chat("Hello!", ",\"max_tokens\":1").padding(toLength: 9900, withPad: " ", startingAt: 0)
    #expect(try server.chat(large).status == 200)
    #expect(try second.response().status == 429)
    #expect(try await eventually { server.bodyBytes == 0 })
    #expect(try server.chat(Shared.chat("Hello!")).status == 200)
    #expect(try await eventually { server.bodyBytes == 0 })
    await server.shutDown()
  }

  @Test func a_field_name_of_100_kilobytes_is_ignored_like_any_other() async throws {
    let server = try await Shared.server
    let name = String(repeating: "x", count: 100_000)
    let response = try server.chat(Shared.chat("Hello!", ",\"\(name)\":1,\"max_tokens\":1"))
    #expect(response.status == 200)
    #expect((1...200).contains(response.headers["x-pagoda-ignored-fields"]?.utf8.count ?? 0))
  }

  @Test func a_socket_in_the_file_system_serves_its_owner() async throws {
    let path = NSTemporaryDirectory() + "pagoda-\(UInt32.random(in: 0...UInt32.max)).sock"
    let server = try await Shared.start { $0.unixPath = path }
    #expect(server.url == "unix:\(path)" && server.port == 0)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(try #require(mode) & 0o707 == 0o700)
    let client = try HTTPClient(unix: path)
    try client.request("POST", "/v1/chat/completions", body: Shared.chat(Shared.questions[0]))
    #expect(try client.response().answer?.contains("Paris") == true)
    await #expect(throws: ServerError.self) { try await Shared.start { $0.unixPath = path } }
    await server.shutDown()
    #expect(access(path, F_OK) != 0)
    try Data("text".utf8).write(to: URL(fileURLWithPath: path))
    await #expect(throws: ServerError.self) { try await Shared.start { $0.unixPath = path } }
    #expect(access(path, F_OK) == 0)
    try FileManager.default.removeItem(atPath: path)
    await #expect(throws: ServerError.self) {
      try await Shared.start { $0.unixPath = NSTemporaryDirectory() + String(repeating: "a", count: 200) }
    }
  }

  @Test func the_limit_of_descriptors_is_raised() async throws {
    var limit = rlimit()
    #if os(Linux)
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    let resource = RLIMIT_NOFILE
    #endif
    getrlimit(resource, &limit)
    let server = try await Shared.start { $0.maximumConnections = 3000 }
    getrlimit(resource, &limit)
    #expect(limit.rlim_cur >= min(limit.rlim_max, 3000))
    await server.shutDown()
  }
}

extension HTTPClient {
  /// Waits until an answer begins.
  func firstBytes() throws -> Bool {
    struct Begun: Error {}
    do {
      _ = try response { _ in throw Begun() }
    } catch is Begun { return true }
    return false
  }
}

extension Server {
  fileprivate var bodyBytes: Int { bodyBytesInFlight }
}
