// The server as HTTP: sizes, hosts, origins, keys.
import Foundation
import PagodaKit
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct HTTPTests {
  @Test func sizes_of_headers_and_paths_are_limited() async throws {
    let server = try await Shared.server
    let many = Dictionary(uniqueKeysWithValues: (0..<101).map { ("x-\($0)", "1") })
    #expect(try server.get("/health", headers: many).status == 431)
    #expect(try server.get("/health", headers: ["x": String(repeating: "a", count: 9000)]).status == 431)
    #expect(try server.get("/" + String(repeating: "a", count: 9000)).status == 414)
    #expect(try server.get("/health", headers: ["x": String(repeating: "a", count: 100_000)]).status == 431)
  }

  @Test func bodies_above_the_limit_get_413() async throws {
    let server = try await Shared.start { $0.maximumBodyBytes = 10_000 }
    let long = Shared.chat(String(repeating: "x", count: 20_000))
    let response = try server.chat(long)
    #expect(response.status == 413 && response.error["code"]?.stringValue == "request_too_large")
    // Also without a length known in advance.
    let client = try server.client()
    try client.send(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n")
    for _ in 0..<20 { try client.send("400\r\n\(String(repeating: "x", count: 1024))\r\n") }
    try client.send("0\r\n\r\n")
    #expect(try client.response().status == 413)
    // Far above it the server stops reading.
    try client.request(
      "POST", "/v1/chat/completions", headers: ["Expect": "100-continue", "Content-Length": "1000000000"])
    #expect(try client.response().status == 413)
    #expect(try server.chat(Shared.chat(Shared.questions[0])).status == 200)
    await server.shutDown()
  }

  @Test func only_json_is_taken_and_only_by_post() async throws {
    let server = try await Shared.server
    let body = Shared.chat("Hello!")
    for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "application/jsonx"] {
      #expect(try server.post("/v1/chat/completions", body, headers: ["Content-Type": type]).status == 415, "\(type)")
    }
    let typed = ["Content-Type": "Application/JSON; charset=utf-8"]
    #expect(try server.post("/v1/chat/completions", body, headers: typed).status == 200)
    let wrong = try server.get("/v1/chat/completions")
    #expect(wrong.status == 405 && wrong.headers["allow"] == "POST")
    #expect(try server.get("/nope").status == 404)
    let client = try server.client()
    try client.request("OPTIONS", "/v1/chat/completions", headers: ["Access-Control-Request-Method": "POST"])
    let preflight = try client.response()
    #expect(preflight.status == 405 && !preflight.headers.keys.contains { $0.hasPrefix("access-control") })
  }

  @Test func hosts_and_origins_of_others_are_refused() async throws {
    let server = try await Shared.server
    for host in ["evil.example", "localhost.evil.com", "192.168.1.5", "127.0.0.1.nip.io", "[::1]:x.evil", "[::1]evil"] {
      #expect(try server.get("/health", host: host).status == 403, "\(host)")
      #expect(try server.get("/", host: host).status == 403, "\(host)")
    }
    let client = try server.client()
    try client.send("GET /health HTTP/1.1\r\n\r\n")
    #expect(try client.response().status == 400)
    for origin in ["null", "http://localhost.evil.com", "https://evil", "http://localhost:1"] {
      #expect(try server.get("/v1/models", headers: ["Origin": origin]).status == 403, "\(origin)")
    }
    let own = "localhost:\(server.port)"
    #expect(try server.get("/v1/models", headers: ["Origin": "http://\(own)"], host: own).status == 200)
  }

  @Test func no_route_is_in_two_tables() {
    var seen: Set<String> = []
    for table in Service.routeTables {
      for (path, methods) in table {
        for method in methods.keys { #expect(seen.insert("\(method) \(path)").inserted, "\(method) \(path)") }
      }
    }
    #expect(seen.count == Service.routes.values.map(\.count).reduce(0, +))
  }

  @Test func keys_guard_every_route_but_the_public_ones() async throws {
    let server = try await Shared.start { $0.apiKeys = ["secret-key", "other"] }
    for (path, methods) in Service.routes {
      // Without a key these two have only the model's name: see MonitorTests.
      let isPublic = Guard.publicRoutes.contains(path) || ["/server_info", "/model_info"].contains(path)
      for method in methods.keys {
        let client = try server.client()
        try client.request(method, path, body: method == "POST" ? "{}" : nil)
        #expect((try client.response().status == 401) == !isPublic, "\(method) \(path)")
      }
    }
    #expect(Guard.publicRoutes.isDisjoint(with: ["/v1/models", "/metrics", "/tokenize"]))
    for headers in [
      ["Authorization": ""], ["Authorization": "secret-key"], ["Authorization": "Bearer"],
      ["Authorization": "Bearer "], ["Authorization": "Bearer secret"], ["Authorization": "Bearer secret-key2"],
      ["Authorization": "Basic secret-key"], ["x-api-key": ""], ["x-api-key": "wrong"],
      ["Authorization": "Bearer secret-key", "x-api-key": "wrong"],
    ] {
      let response = try server.get("/v1/models", headers: headers)
      #expect(response.status == 401 && !response.text.contains("secret-key"), "\(headers)")
    }
    for headers in [
      ["Authorization": "Bearer secret-key"], ["Authorization": "bearer other"], ["x-api-key": "secret-key"],
    ] {
      #expect(try server.get("/v1/models", headers: headers).status == 200, "\(headers)")
    }
    let client = try server.client()
    try client.send(
      "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer other\r\n"
        + "Authorization: Bearer secret-key\r\n\r\n")
    #expect(try client.response().status == 401)
    await server.shutDown()
  }

  @Test func a_port_in_use_is_an_error() async throws {
    let port = try await Shared.server.port
    await #expect(throws: ServerError.self) { try await Shared.start { $0.port = port } }
    await #expect(throws: ServerError.self) { try await Shared.start { $0.host = "no such host" } }
  }

  @Test func a_server_that_is_let_go_stops() async throws {
    var server: Server? = try await Shared.start()
    let port = try #require(server?.port)
    let client = try server?.client()
    try client?.request("POST", "/v1/chat/completions", body: Shared.endless())
    server = nil
    #expect(throws: ServerError.self) { try HTTPClient(host: "127.0.0.1", port: port) }
  }

  @Test func the_access_log_has_no_content() async throws {
    let lines = Box<[String]>([])
    let server = try await Shared.start { $0.accessLog = { lines.value += [$0] } }
    _ = try server.chat(Shared.chat("my secret question"))
    _ = try server.get("/%1B[31mx%0Ay?key=secret")
    await server.shutDown()
    let log = lines.value.sorted()  // a line is written when its connection's thread is done, in any order
    #expect(log.count == 2 && log[0].hasPrefix("GET /[31mxy 404 "), "\(log)")
    #expect(log.last?.hasPrefix("POST /v1/chat/completions 200 ") == true, "\(log)")
    #expect(!log.joined().contains("secret"))
  }

  @Test func listening_beyond_this_machine_needs_a_key() async throws {
    await #expect(throws: ServerError.self) { try await Shared.start { $0.host = "0.0.0.0" } }
    let server = try await Shared.start {
      $0.host = "0.0.0.0"
      $0.apiKeys = ["k"]
    }
    #expect(try server.get("/health", host: "my-machine.lan").status == 200)
    await server.shutDown()
  }

  @Test func the_page_is_served_with_a_strict_policy() async throws {
    let server = try await Shared.server
    for path in PageFile.all.keys {
      let response = try server.get(path)
      #expect(response.status == 200 && response.body.count > 100, "\(path)")
      let policy = response.headers["content-security-policy"] ?? ""
      #expect(policy.contains("default-src 'self'") && !policy.contains("unsafe"), "\(path)")
      if path.hasSuffix(".js") {
        #expect(!response.text.contains("innerHTML") && !response.text.contains("insertAdjacentHTML"), "\(path)")
      }
    }
    let page = try server.get("/?q=Hello").text
    #expect(!page.contains("style=") && !page.contains("onclick") && !page.contains("https://"))
  }

  @Test func health_models_and_metrics_answer() async throws {
    let server = try await Shared.server
    #expect(try server.get("/health").json["status"]?.stringValue == "ok")
    let model = try server.get("/v1/models").json["data"]?.arrayValue?.first
    #expect(model?["id"]?.stringValue == "pagoda-mini" && model?["max_model_len"]?.intValue == 8192)
    _ = try server.chat(Shared.chat("Hello!"))
    let metrics = try server.get("/metrics").text
    for name in [
      "vllm:num_requests_running", "vllm:generation_tokens_total", "vllm:time_to_first_token_seconds_bucket",
    ] {
      #expect(metrics.contains("\n\(name)") || metrics.hasPrefix(name), "\(name)")
    }
  }
}
