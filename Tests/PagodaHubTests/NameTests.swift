// Names of models, settings from the environment, and hashes.
import Foundation
import Testing

@testable import PagodaHub

@Suite struct NameTests {
  @Test func names_have_two_parts_and_a_revision() throws {
    let plain = try #require(ModelName("Qwen/Qwen3.5-0.8B"))
    #expect(plain.repository == "Qwen/Qwen3.5-0.8B" && plain.revision == "main" && "\(plain)" == "Qwen/Qwen3.5-0.8B")
    #expect(plain.folderName == "models--Qwen--Qwen3.5-0.8B")
    #expect(ModelName.repository(ofFolder: plain.folderName) == plain.repository)
    #expect(ModelName("a/b@refs/pr/1")?.revision == "refs/pr/1")
    #expect(ModelName.repository(ofFolder: "datasets--a--b") == nil)
  }

  @Test(arguments: [
    "mini", "a/b/c", "/a/b", "a/", "/b", "../b", "a/..", "a/b@", "a/b@../x", "a/b@x//y", "a b/c", "a/b\n", "a/-b",
    "a--b/c",
    "ä/b", "a/b@.hidden", "",
  ])
  func other_texts_are_no_names(_ text: String) { #expect(ModelName(text) == nil) }

  @Test func settings_come_from_the_variables_of_huggingface_hub() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pagoda-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("hf_file\n".utf8).write(to: URL(filePath: folder + "/token"))

    let plain = HubSettings(environment: ["HOME": "/home-of-a"])
    #expect(plain.cacheFolder == "/home-of-a/.cache/huggingface/hub" && plain.token == nil && !plain.isOffline)
    #expect(plain.endpoint == "https://huggingface.co")
    let contained = HubSettings(environment: ["HOME": "/home-of-a", "APP_SANDBOX_CONTAINER_ID": "app.pagoda"])
    #expect(contained.cacheFolder == "/home-of-a/Library/Caches/huggingface/hub")
    let home = HubSettings(environment: ["HF_HOME": folder, "HF_HUB_OFFLINE": "1", "HF_ENDPOINT": "http://x:1//"])
    #expect(home.cacheFolder == folder + "/hub" && home.token == "hf_file" && home.isOffline)
    #expect(home.endpoint == "http://x:1")
    let own = HubSettings(environment: ["HF_HOME": folder, "HF_HUB_CACHE": "/c", "HF_TOKEN": " hf_own "])
    #expect(own.cacheFolder == "/c" && own.token == "hf_own")
    #expect(HubSettings(environment: ["HF_TOKEN": "a\nX-Header: b"]).token == nil)
    #expect(HubSettings(environment: ["HF_TOKEN_PATH": folder + "/token"]).token == "hf_file")
  }

  @Test func hashes_are_those_of_the_standards() {
    func hash(_ expected: ExpectedHash, _ text: String, chunks: Int) -> String {
      let data = Data(text.utf8)
      var digest = Digest(expected, size: Int64(data.count))
      for begin in stride(from: 0, to: data.count, by: chunks) {
        digest.add(data[begin..<min(begin + chunks, data.count)])
      }
      return digest.finish()
    }
    // FIPS 180-4's examples, the empty text, and `git hash-object`.
    let alphabet = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
    for chunks in [1, 3, 64, 1000] {
      #expect(
        hash(.sha256(""), "abc", chunks: chunks) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
      #expect(
        hash(.sha256(""), alphabet, chunks: chunks)
          == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
      #expect(
        hash(.sha256(""), String(repeating: "a", count: 1000), chunks: chunks)
          == "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3")
      #expect(hash(.gitBlob(""), "test content\n", chunks: chunks) == "d670460b4b4aece5915caf5c68d12f560a9fe3e4")
    }
    #expect(hash(.sha256(""), "", chunks: 1) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(hash(.gitBlob(""), "", chunks: 1) == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
  }
}
