// The port for scrapers and probes: it needs no key, has nothing else, and tells liveness from readiness.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct MonitorTests {
  private func get(_ server: Server, _ path: String, method: String = "GET") throws -> HTTPClient.Response {
    let client = try HTTPClient(host: "127.0.0.1", port: try #require(server.metricsPort))
    try client.request(method, path)
    return try client.response(isHead: method == "HEAD")
  }

  private static func options() -> ServerOptions {
    var options = ServerOptions()
    options.port = 0
    options.metricsPort = 0
    options.apiKeys = ["secret-key"]
    options.replicaName = "replica-1"
    return options
  }

  @Test func it_needs_no_key_and_has_nothing_but_metrics_and_health() async throws {
    let server = try Server.start(try await Shared.engine, options: Self.options())
    #expect(try server.get("/metrics").status == 401, "the key still guards the other port")
    let metrics = try get(server, "/metrics")
    #expect(metrics.status == 200 && metrics.text.contains("vllm:num_requests_waiting{model_name=\"pagoda\"}"))
    for path in ["/livez", "/readyz", "/health"] {
      let response = try get(server, path)
      #expect(response.status == 200 && response.json["status"] == .string("ok"), "\(path)")
      #expect(response.headers["x-pagoda-replica"] == "replica-1")
      #expect(try get(server, path, method: "HEAD").status == 200)
      #expect(try server.get(path).status == 200, "also on the other port, without a key")
    }
    for path in Service.routes.keys where !Monitor.limits.firstPaths.contains(path) {
      #expect(try get(server, path).status == 404, "\(path)")
    }
    #expect(try get(server, "/metrics", method: "POST").status == 405)
    await server.shutDown()
    #expect(throws: (any Error).self) { try get(server, "/livez") }
  }

  @Test func a_server_that_loads_or_drains_is_alive_and_not_ready() async throws {
    let server = try Server.listen(options: Self.options())
    #expect(try get(server, "/livez").status == 200)
    let loading = try get(server, "/readyz")
    #expect(loading.status == 503 && loading.json["status"] == .string("loading"))
    #expect(loading.headers["retry-after"] == "1")
    #expect(try get(server, "/metrics").text.contains("pagoda:http_connections"))
    #expect(try server.get("/livez").status == 200 && server.get("/readyz").status == 503)
    server.serve(try await Shared.engine)
    #expect(try get(server, "/readyz").status == 200)
    let client = try server.client()
    try client.request(
      "POST", "/v1/chat/completions", headers: ["Authorization": "Bearer secret-key"], body: Shared.endless())
    #expect(try await eventually { !server.load.isIdle })
    let draining = Task { await server.shutDown(drainSeconds: 300) }
    #expect(try await eventually { (try? get(server, "/readyz").json["status"]) == .string("shutting_down") })
    #expect(try get(server, "/livez").status == 200, "a server that drains is not restarted")
    client.close()
    await draining.value
  }

  @Test func only_a_fault_that_does_not_end_by_itself_fails_liveness() {
    var health = Health()
    #expect(health.isAlive && health.liveness.status == 200)
    health.fault = "stage 1 of the pipeline was lost"
    health.recovers = true
    #expect(health.isAlive && health.statusCode == 503, "the stage comes back")
    var failed = Health()
    failed.fault = "the GPU is gone"
    #expect(!failed.isAlive && failed.liveness.status == 503)
    health.add(failed)
    #expect(!health.isAlive && health.fault == "the GPU is gone", "of two faults the one that needs a restart counts")
    failed.add(Health())
    #expect(!failed.isAlive)
  }

  @Test func a_request_that_a_device_failed_may_be_sent_elsewhere() {
    let error = APIError(PagodaError.deviceFailure("stage 1 of the pipeline was lost"))
    let response = error.response()
    #expect(response.status == 503 && response.headers.contains { $0.name == "Retry-After" })
  }

  @Test func a_port_in_use_is_reported_and_the_other_one_is_closed() async throws {
    let first = try Server.listen(options: Self.options())
    var options = Self.options()
    options.metricsPort = first.metricsPort
    options.port = 0
    #expect(throws: ServerError.self) { try Server.listen(options: options) }
    await first.shutDown()
  }

  @Test func a_router_without_a_key_learns_the_name_and_nothing_else() async throws {
    var options = Self.options()
    options.modelNames = ["the-model"]
    options.modelPath = "/secret/path"
    let server = try Server.start(try await Shared.engine, options: options)
    for path in ["/server_info", "/model_info"] {
      let brief = try server.get(path)
      #expect(brief.status == 200 && brief.json["served_model_name"] == .string("the-model"))
      #expect(brief.json.objectValue?.count == 2 && !brief.text.contains("secret"))
      #expect(try server.get(path, headers: ["Authorization": "Bearer wrong"]).status == 401, "a guess is a guess")
      let whole = try server.get(path, headers: ["Authorization": "Bearer secret-key"])
      #expect(whole.json["version"] == .string(PagodaVersion.current))
    }
    await server.shutDown()
  }

  @Test func a_key_sent_twice_is_one_key() throws {
    let guarding = Guard(keys: [APIKey(name: "a", key: "one"), APIKey(name: "b", key: "two")], isLoopbackOnly: true)
    func index(_ keys: [String]) -> Int? {
      let headers = keys.map { HTTPHeader("authorization", "Bearer \($0)") }
      return guarding.keyIndex(HTTPRequest(method: "GET", path: "/v1/models", headers: headers))
    }
    #expect(index(["one"]) == 0 && index(["two", "two"]) == 1, "a router adds its own key to the client's")
    #expect(index(["one", "two"]) == nil && index(["one", "wrong"]) == nil && index([]) == nil)
  }
}
