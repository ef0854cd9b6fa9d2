// Access to the server: names of this machine, keys.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct GuardTests {
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
    let engine = try await Engine.load(.mini)  // a separate one: other tests would evict its prefixes
    var options = ServerOptions()
    options.port = 0
    options.apiKeys = ["first", "second"]
    let server = try Server.start(engine, options: options)
    let body = Shared.chat("what is the capital of \(UInt32.random(in: 0...UInt32.max))?")
    func cached(_ key: String) throws -> Int64? {
      let response = try server.post("/v1/chat/completions", body, headers: ["Authorization": "Bearer \(key)"])
      return response.json["usage"]?["prompt_tokens_details"]?["cached_tokens"]?.intValue
    }
    _ = try cached("first")
    #expect(try cached("second") == 0)
    #expect(try #require(try cached("first")) > 0)
    await server.shutDown()
    await engine.shutDown()
  }

  /// A different first key after a restart: it finds no prefix of the old key, which still finds its own.
  @Test func prefixes_belong_to_the_key_and_not_to_its_index() async throws {
    let folder = NSTemporaryDirectory() + "pagoda-secret-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let engine = try await Engine.load(.mini)  // a separate one: other tests would evict its prefixes
    let body = Shared.chat("What is the capital of France?")
    func cached(_ keys: [String], _ key: String) async throws -> Int64? {
      var options = ServerOptions()
      options.port = 0
      options.apiKeys = keys
      options.secretFolder = folder
      let server = try Server.start(engine, options: options)
      let response = try server.post("/v1/chat/completions", body, headers: ["Authorization": "Bearer \(key)"])
      await server.shutDown()
      return response.json["usage"]?["prompt_tokens_details"]?["cached_tokens"]?.intValue
    }
    #expect(try await cached(["old", "second"], "old") == 0)
    #expect(try await cached(["new", "second"], "new") == 0)
    #expect(try await cached(["new"], "new") ?? 0 > 0)
    #expect(try await cached(["second", "old"], "old") ?? 0 > 0)
    #expect(try await cached(["lone"], "lone") == 0)
    await engine.shutDown()
  }

  @Test func the_secret_is_made_once_and_for_its_owner_only() throws {
    let folder = NSTemporaryDirectory() + "pagoda-secret-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let secret = try TenantSecret(folder: folder)
    #expect(try TenantSecret(folder: folder).bytes == secret.bytes)
    #expect(secret.bytes.count == 32 && secret.bytes != TenantSecret().bytes)
    let path = folder + "/tenant-secret"
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["tenant-secret"])
    #expect(secret.salt(key: "a", "b c").count == 64)
    #expect(secret.salt(key: "a", "b c") != secret.salt(key: "a b", "c"))
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
    #expect(throws: ServerError.self) { try TenantSecret(folder: folder) }
  }

  /// RFC 4231, cases 1, 2 and 6.
  @Test func the_keyed_hash_is_hmac_sha_256() {
    func hex(_ secret: [UInt8], _ message: String) -> String {
      TenantSecret.authenticate(Array(message.utf8), secret: secret).map { String(format: "%02x", $0) }.joined()
    }
    #expect(
      hex(Array(repeating: 0x0B, count: 20), "Hi There")
        == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    #expect(
      hex(Array("Jefe".utf8), "what do ya want for nothing?")
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(
      hex(Array(repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First")
        == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
  }
}
