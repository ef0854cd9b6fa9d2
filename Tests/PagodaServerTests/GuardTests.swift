// Who may talk to the server: names of this machine, keys.
import Testing

@testable import PagodaServer

@Suite struct GuardTests {
  @Test func only_names_of_this_machine_pass() {
    for host in ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:1", "127.9.9.9", "[::1]", "[::1]:80"] {
      #expect(Guard.isThisMachine(host), "\(host)")
    }
    for host in [
      "", "evil.example", "localhost.evil.com", "127.0.0.1.evil.com", "127.0.0", "128.0.0.1", "[::2]", "localhost:x",
      "localhost:80:80", "0.0.0.0", "127.0.0.256", "[::1]evil",
    ] {
      #expect(!Guard.isThisMachine(host), "\(host)")
    }
  }

  @Test func keys_are_compared_whole() {
    #expect(Guard.isEqual("secret", "secret"))
    for given in ["", "s", "secre", "secret ", "Secret", "secretsecret", "xecret"] {
      #expect(!Guard.isEqual("secret", given), "\(given)")
    }
    #expect(!Guard.isEqual("", ""))
  }

  @Test func holders_of_different_keys_share_no_prefix() async throws {
    let server = try await Shared.start { $0.apiKeys = ["first", "second"] }
    let body = Shared.chat("what is the capital of \(UInt32.random(in: 0...UInt32.max))?")
    func cached(_ key: String) throws -> Int64? {
      let response = try server.post("/v1/chat/completions", body, headers: ["Authorization": "Bearer \(key)"])
      return response.json["usage"]?["prompt_tokens_details"]?["cached_tokens"]?.intValue
    }
    _ = try cached("first")
    #expect(try cached("second") == 0)
    #expect(try #require(try cached("first")) > 0)
  }
}
