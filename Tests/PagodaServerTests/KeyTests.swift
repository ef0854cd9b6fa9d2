// Keys with names and limits, addresses that guess, other hosts and origins, and the log.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct KeyTests {
  private func bearer(_ key: String) -> [String: String] { ["Authorization": "Bearer \(key)"] }

  @Test func administrators_are_named_in_the_last_column() throws {
    let keys = try APIKey.parse("a 1 - - - - admin\nb 2 - - - - -\nc 3", from: "keys")
    #expect(keys.map(\.isAdmin) == [true, false, false])
    let error = #expect(throws: ServerError.self) { try APIKey.parse("a 1 - - - - root", from: "keys") }
    #expect(error?.message.contains("line 1") == true)
    let guarding = Guard(keys: keys, isLoopbackOnly: true)
    func isAdmin(_ headers: [HTTPHeader]) -> Bool {
      guarding.isAdmin(HTTPRequest(method: "POST", path: "/api/pull", headers: headers))
    }
    #expect(isAdmin([HTTPHeader("x-api-key", "1")]) && !isAdmin([HTTPHeader("x-api-key", "2")]) && !isAdmin([]))
    #expect(!Guard(isLoopbackOnly: true).isAdmin(HTTPRequest(method: "POST", path: "/", headers: [])))
  }

  @Test func keys_are_read_from_lines() throws {
    let keys = try APIKey.parse(
      "# comment\n\nanna  k1\r\nben k2 60\n\tcleo k3 - 1000 2\ndora k4 - - - -2\nemil k5 - - 1 -\n", from: "keys")
    #expect(
      keys.map(\.name) == ["anna", "ben", "cleo", "dora", "emil"] && keys.map(\.key) == ["k1", "k2", "k3", "k4", "k5"])
    #expect(keys.map(\.requestsPerMinute) == [nil, 60, nil, nil, nil])
    #expect(keys.map(\.tokensPerMinute) == [nil, nil, 1000, nil, nil])
    #expect(keys.map(\.share) == [1, 1, 2, 1, 1] && keys.map(\.priority) == [0, 0, 0, -2, 0])
    for text in [
      "anna", "a k 0", "a k x", "a k -1", "a k 1 2 3 4 5", "a k 1 2 65", "a k - - 1 x", "a k - - 1 3000000000",
      "a k\na l",
      "a k\nb k",
    ] {
      let error = #expect(throws: ServerError.self, "\(text)") { try APIKey.parse("\n\(text)", from: "keys") }
      #expect(error?.message.hasPrefix("keys, line ") == true && error?.message.contains(" k ") == false)
    }
  }

  @Test func a_key_has_a_minutes_worth_and_fills_up_again() {
    var key = APIKey(name: "a", key: "k")
    key.requestsPerMinute = 2
    key.tokensPerMinute = 600
    let limits = KeyLimits([key, APIKey(name: "b", key: "l")], now: 0)
    #expect(limits.begin(0, now: 0) == nil && limits.begin(0, now: 0) == nil)
    #expect(limits.begin(0, now: 0) == 30 && limits.begin(0, now: 15) == 15 && limits.begin(0, now: 30) == nil)
    limits.use(0, tokens: 1200, now: 60)  // 600 more than available: 60 s, plus 0.1 s for one token
    #expect(abs((limits.begin(0, now: 60) ?? 0) - 60.1) < 0.01 && limits.begin(0, now: 121) == nil)
    for _ in 0..<1000 { #expect(limits.begin(1, now: 0) == nil) }
  }

  @Test func a_key_with_several_shares_uses_them_in_turn() {
    var key = APIKey(name: "a", key: "k")
    key.share = 3
    let limits = KeyLimits([APIKey(name: "b", key: "l"), key])
    let ids = (0..<6).map { _ in limits.shareID(1) }
    #expect(Set(ids) == ["key 1.0", "key 1.1", "key 1.2"] && Array(ids[..<3]) == Array(ids[3...]))
    #expect(limits.shareID(0) == "key 0" && limits.shareID(0) == "key 0")
  }

  /// One place in the engine, taken by a third key. Of two that wait, the one that arrived first is answered first,
  /// although the other asks for a more urgent class; a key that has that class gets it.
  @Test(arguments: [(0, ["first", "second"]), (-1, ["second", "first"])])
  func a_client_cannot_ask_for_a_more_urgent_class_than_its_key_has(_ floor: Int, _ order: [String]) async throws {
    var engineOptions = EngineOptions()
    engineOptions.maximumSequences = 1
    let engine = try await Engine.load(.mini, options: engineOptions)
    var options = ServerOptions()
    options.port = 0
    options.namedKeys = ["holder", "first", "second"].map { APIKey(name: $0, key: $0) }
    options.namedKeys[2].priority = floor
    let lines = Box<[String]>([])
    options.structuredLog = { lines.value += [$0] }
    let server = try Server.start(engine, options: options)
    let holder = try server.client()
    try holder.request("POST", "/v1/chat/completions", headers: bearer("holder"), body: Shared.endless())
    #expect(try await eventually { engine.statistics.running == 1 })
    func ask(_ key: String, _ more: String) -> Task<Int, any Error> {
      let headers = bearer(key)
      return background {
        try server.post("/v1/chat/completions", Shared.chat("Hello!", ",\"max_tokens\":5" + more), headers: headers)
          .status
      }
    }
    let first = ask("first", "")
    #expect(try await eventually { engine.statistics.waiting == 1 })
    let second = ask("second", ",\"priority\":-1")
    #expect(try await eventually { engine.statistics.waiting == 2 })
    holder.close()
    #expect(try await first.value == 200)
    #expect(try await second.value == 200)
    #expect(try await eventually { lines.value.count == 3 })
    let answered = lines.value.compactMap { JSONValue.parse($0)?["key"]?.stringValue }.filter { $0 != "holder" }
    #expect(answered == order)
    await server.shutDown(drainSeconds: 0)
    await engine.shutDown()
  }

  @Test func wrong_keys_are_counted_by_address_and_by_key() {
    let failed = FailedKeys()
    for index in 0..<FailedKeys.perMinute { #expect(failed.count("guess \(index)", from: "a", now: 0) == nil) }
    #expect(failed.count("guess", from: "a", now: 0) != nil, "too many different keys")
    #expect(failed.count("guess 3", from: "a", now: 0) == nil, "a faulty program still gets its own error")
    #expect(failed.count("guess", from: "b", now: 0) == nil)
    #expect(failed.count("guess", from: "a", now: 3.1) == nil, "one key more in three seconds")
    for _ in 0..<FailedKeys.perMinute { #expect(failed.count("same", from: "c", now: 0) == nil) }
    #expect(failed.count("same", from: "c", now: 0) != nil && failed.count("another", from: "c", now: 0) == nil)
    for index in 0..<20_000 { _ = failed.count("k", from: "x\(index)", now: 1) }  // the table is bounded
  }

  @Test func a_valid_key_is_never_refused_for_the_guesses_of_others() async throws {
    let server = try await Shared.start { $0.apiKeys = ["right", "new"] }
    var last = 401
    for index in 0..<50 * FailedKeys.perMinute where last == 401 {  // one more is allowed every three seconds
      last = try server.get("/v1/models", headers: bearer("wrong \(index)")).status
    }
    #expect(last == 429)
    #expect(try server.get("/v1/models", headers: bearer("new")).status == 200, "never used from this address before")
    await server.shutDown()
  }

  @Test func clients_of_a_trusted_proxy_have_their_own_address() throws {
    let proxies = try TrustedProxies(["127.0.0.1", "10.0.0.0/8", "2001:db8::/32"])
    func client(_ address: String, _ forwarded: String...) -> String {
      let headers = forwarded.map { HTTPHeader("x-forwarded-for", $0) }
      return proxies.client(of: HTTPRequest(method: "GET", path: "/", headers: headers, address: address))
    }
    #expect(client("127.0.0.1", "192.0.2.1") == "192.0.2.1" && client("::ffff:127.0.0.1", "192.0.2.1") == "192.0.2.1")
    #expect(client("192.0.2.9", "192.0.2.1") == "192.0.2.9", "not a proxy")
    #expect(
      client("127.0.0.1", "1.2.3.4, 192.0.2.1, 10.1.2.3") == "192.0.2.1", "what the client wrote itself is ignored")
    #expect(client("127.0.0.1", "1.2.3.4", "192.0.2.1:4711") == "192.0.2.1")
    #expect(client("2001:db8::7", "[2001:db9::1]:80") == "2001:db9::1" && client("127.0.0.1", "unknown") == "127.0.0.1")
    #expect(client("127.0.0.1") == "127.0.0.1" && client("", "192.0.2.1") == "")
    let local = HTTPRequest(
      method: "GET", path: "/", headers: [HTTPHeader("x-forwarded-for", "192.0.2.1")], address: "")
    #expect(try TrustedProxies(["unix"]).client(of: local) == "192.0.2.1")
    for wrong in ["", "proxy.example", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1"] {
      #expect(throws: ServerError.self, "\(wrong)") { try TrustedProxies([wrong]) }
    }
  }

  @Test func guesses_behind_a_trusted_proxy_count_for_their_client() async throws {
    let server = try await Shared.start {
      $0.apiKeys = ["right"]
      $0.trustedProxies = ["127.0.0.1"]
    }
    func guess(_ key: String, from address: String) throws -> Int {
      let headers = bearer(key).merging(["X-Forwarded-For": address]) { $1 }
      return try server.get("/v1/models", headers: headers).status
    }
    var last = 401
    for index in 0..<50 * FailedKeys.perMinute where last == 401 { last = try guess("w\(index)", from: "192.0.2.1") }
    #expect(last == 429)
    #expect(try guess("w", from: "192.0.2.2") == 401)
    await server.shutDown()
  }

  @Test func the_log_has_the_address_that_a_trusted_proxy_reports() async throws {
    for (trusted, address, proxy) in [(["127.0.0.1"], "192.0.2.7", "127.0.0.1"), ([], "127.0.0.1", nil)] {
      let lines = Box<[String]>([])
      let server = try await Shared.start {
        $0.trustedProxies = trusted
        $0.structuredLog = { lines.value += [$0] }
      }
      #expect(try server.get("/v1/models", headers: ["X-Forwarded-For": "10.9.9.9, 192.0.2.7"]).status == 200)
      #expect(try await eventually { lines.value.count == 1 })
      await server.shutDown()
      let line = try #require(JSONValue.parse(lines.value[0]))
      #expect(line["address"]?.stringValue == address && line["proxy"]?.stringValue == proxy, "\(lines.value)")
    }
  }

  @Test func keys_with_names_have_their_limits() async throws {
    var anna = APIKey(name: "anna", key: "k1")
    anna.requestsPerMinute = 2
    var ben = APIKey(name: "ben", key: "k2")
    ben.tokensPerMinute = 5
    let server = try await Shared.start { $0.namedKeys = [anna, ben] }
    @Sendable func chat(_ key: String) throws -> HTTPClient.Response {
      try server.post("/v1/chat/completions", Shared.chat("Hello!", ",\"max_tokens\":4"), headers: bearer(key))
    }
    // All at once: while one is answered, the key's allowance grows again.
    let answers = try await together(3) { _ in try chat("k1") }
    #expect(answers.map(\.status).sorted() == [200, 200, 429])
    let limited = try #require(answers.first { $0.status == 429 })
    #expect(Int(limited.headers["retry-after"] ?? "") ?? 0 > 1)
    #expect(limited.error["message"]?.stringValue?.contains("anna") == true)
    #expect(try chat("k2").status == 200)
    #expect(try await eventually { (try? chat("k2").status) == 429 })
    #expect(try server.get("/v1/models", headers: bearer("k1")).status == 200)
    await server.shutDown()
  }

  @Test func wrong_keys_are_throttled_and_right_ones_are_not() async throws {
    let server = try await Shared.start { $0.apiKeys = ["right", "other"] }
    #expect(try server.get("/v1/models", headers: bearer("right")).status == 200)
    var seen: [Int] = []
    while !seen.contains(429) && seen.count < 50 * FailedKeys.perMinute {  // one more is allowed every three seconds
      seen.append(try server.get("/v1/models", headers: bearer("wrong \(seen.count)")).status)
    }
    #expect(seen.prefix(FailedKeys.perMinute).allSatisfy { $0 == 401 } && seen.contains(429), "\(seen)")
    #expect(try server.get("/v1/models", headers: bearer("right")).status == 200)
    #expect(try server.get("/health").status == 200)
    await server.shutDown()
  }

  @Test func without_a_key_other_names_are_refused_beyond_this_machine_too() async throws {
    let open = Guard(isLoopbackOnly: false)
    for host in ["localhost:1", "192.0.2.7", "192.0.2.7:8080", "[2001:db8::1]:80", "127.0.0.1"] {
      #expect(open.isAllowed(host: host), "\(host)")
    }
    for host in [
      "evil.example", "192.0.2.7.evil.example", "192.0.2", "host.docker.internal", "192.0.2.7:x.evil",
      "[2001:db8::1]:x.evil", "[2001:db8::1]x.evil",
    ] {
      #expect(!open.isAllowed(host: host), "\(host)")
    }
    let local = Guard(isLoopbackOnly: true, allowedHosts: ["Host.docker.internal", "*.lan"])
    for host in ["host.docker.internal:8080", "a.lan", "A.b.LAN:1"] { #expect(local.isAllowed(host: host), "\(host)") }
    for host in ["lan", "192.0.2.7", "host.docker.internal.evil"] { #expect(!local.isAllowed(host: host), "\(host)") }
    let server = try await Shared.start {
      $0.host = "0.0.0.0"
      $0.isInsecure = true
      $0.allowedHosts = ["my-machine.lan"]
    }
    #expect(try server.get("/health", host: "my-machine.lan").status == 200)
    #expect(try server.get("/health", host: "evil.example").status == 403)
    await server.shutDown()
  }

  @Test func pages_that_are_allowed_may_ask_and_read() async throws {
    let server = try await Shared.start {
      $0.allowedOrigins = ["tauri://localhost", "chrome-extension://*"]
      $0.apiKeys = ["secret"]
    }
    for origin in ["tauri://localhost", "chrome-extension://abc"] {
      let answer = try server.get("/v1/models", headers: bearer("secret").merging(["Origin": origin]) { $1 })
      #expect(answer.status == 200 && answer.headers["access-control-allow-origin"] == origin)
      let client = try server.client()
      try client.request(
        "OPTIONS", "/v1/chat/completions",
        headers: [
          "Origin": origin, "Access-Control-Request-Method": "POST",
          "Access-Control-Request-Headers": "authorization,content-type",
        ])
      let preflight = try client.response()
      #expect(preflight.status == 200 && preflight.headers["access-control-allow-origin"] == origin)
      #expect(preflight.headers["access-control-allow-headers"] == "authorization,content-type")
    }
    for origin in ["null", "tauri://localhost.evil", "https://evil.example"] {
      let answer = try server.get("/v1/models", headers: bearer("secret").merging(["Origin": origin]) { $1 })
      #expect(answer.status == 403 && answer.headers["access-control-allow-origin"] == nil, "\(origin)")
    }
    await server.shutDown()
  }
}

@Suite(.ownThread) struct LogTests {
  @Test func a_reader_that_stops_costs_lines_and_no_time() throws {
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    let log = LogWriter(file: ends[1], maximumBytes: 1000)
    let line = String(repeating: "x", count: 99)
    for _ in 0..<10_000 { log.write(line) }  // a megabyte: more than a pipe and the buffer hold
    #expect(log.droppedLines > 100)
    let reader = FileHandle(fileDescriptor: ends[0])
    var text = ""
    while !text.contains("dropped_lines") {
      text += String(decoding: reader.availableData, as: UTF8.self)
      log.write(line)
    }
    #expect(text.hasPrefix(line + "\n"))
    log.close(within: 600)  // its thread must not write to a descriptor that is another test's by then
    for end in ends { close(end) }
  }

  @Test func each_answer_has_a_line_without_its_content() async throws {
    let lines = Box<[String]>([])
    let server = try await Shared.start {
      $0.namedKeys = [APIKey(name: "anna", key: "top-secret")]
      $0.structuredLog = { lines.value += [$0] }
    }
    let key = ["Authorization": "Bearer top-secret", "x-request-id": "mine-1"]
    let body = Shared.chat("my private question", ",\"max_tokens\":5,\"ignore_eos\":true")
    let answer = try server.post("/v1/chat/completions", body, headers: key)
    #expect(answer.status == 200)
    _ = try server.get("/v1/models", headers: ["Authorization": "Bearer wrong-key"])
    let leaver = try server.client()
    try leaver.request("POST", "/v1/chat/completions", headers: key, body: Shared.endless())
    #expect(throws: CancellationError.self) { try leaver.response { _ in throw CancellationError() } }
    leaver.close()
    #expect(try await eventually { lines.value.count == 3 })
    await server.shutDown()
    let records = lines.value.compactMap { JSONValue.parse($0) }
    let whole = try #require(records.first { $0["id"]?.stringValue == "mine-1" && $0["cut"] == .bool(false) })
    #expect(whole["key"]?.stringValue == "anna" && whole["model"]?.stringValue == "pagoda-mini")
    #expect(whole["status"]?.intValue == 200 && whole["completion_tokens"]?.intValue == 5)
    #expect(whole["prompt_tokens"]?.intValue ?? 0 > 5 && whole["cached_tokens"] != nil && whole["ttft_ms"] != nil)
    #expect(whole["finish"]?.stringValue == "length" && whole["bytes"]?.intValue ?? 0 > answer.body.count)
    let cut = try #require(records.first { $0["cut"] == .bool(true) })
    #expect(cut["status"]?.intValue == 200 && cut["path"]?.stringValue == "/v1/chat/completions")
    let refused = try #require(records.first { $0["status"]?.intValue == 401 })
    #expect(refused["key"] == .null && refused["model"] == nil)
    let all = lines.value.joined()
    #expect(!all.contains("private") && !all.contains("secret") && !all.contains("wrong-key"))
  }
}
