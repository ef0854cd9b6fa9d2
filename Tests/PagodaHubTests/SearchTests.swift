// Search of a hub, and the choice among several GGUF files, before and after they are fetched.
import Foundation
import Testing

@testable import PagodaHub

@Suite struct SearchTests {
  @Test func hits_are_read_and_odd_names_left_out() throws {
    let answer = """
      [{"id":"Qwen/Qwen3.5-0.8B","downloads":12,"tags":["safetensors","qwen3"],"gated":false},
       {"modelId":"some/model-GGUF","tags":["gguf"],"gated":"manual"}, {"id":"some/pictures","tags":["diffusers"]},
       {"id":"../../etc/passwd"}, {"id":"no-slash"}, {}]
      """
    let hits = try HubAPI.hits(in: Data(answer.utf8), endpoint: "http://hub")
    #expect(hits.map(\.id) == ["Qwen/Qwen3.5-0.8B", "some/model-GGUF", "some/pictures"])
    #expect(hits.map(\.hasWeights) == [true, true, false] && hits.map(\.isGated) == [false, true, false])
    #expect(hits[0].downloads == 12 && hits[0].format == nil && hits[1].format == "GGUF")
    #expect(throws: HubError.self) { try HubAPI.hits(in: Data("{}".utf8), endpoint: "http://hub") }
  }

  @Test func formats_and_sizes_are_read() throws {
    let answer = """
      [{"id":"a/plain","tags":["safetensors"],"safetensors":{"parameters":{"BF16":1000,"F32":10},"total":1010}},
       {"id":"a/mlx","tags":["safetensors","mlx"],"safetensors":{"parameters":{"U32":500,"BF16":100}}},
       {"id":"a/none","tags":["safetensors"],"safetensors":{}}]
      """
    let hits = try HubAPI.hits(in: Data(answer.utf8), endpoint: "http://hub")
    #expect(hits.map(\.format) == ["safetensors BF16", "MLX, quantised", nil])
    #expect(hits.map(\.weightBytes) == [2040, 2200, nil])
  }

  @Test func words_go_to_the_hub_escaped() async throws {
    let hub = try OneAnswer(#"[{"id":"a/b","tags":["gguf"]}]"#)
    var settings = HubSettings(cacheFolder: NSTemporaryDirectory())
    settings.endpoint = "http://127.0.0.1:\(hub.port)"
    settings.stallSeconds = 120
    let hits = try await HubAPI(settings).search("qwen 3.5/ü&limit=9", limit: 7)
    #expect(hits.map(\.id) == ["a/b"])
    let fields = ["downloads", "gated", "safetensors", "tags"].map { "&expand%5B%5D=\($0)" }.joined()
    #expect(
      hub.requestLine
        == "GET /api/models?search=qwen%203.5%2F%C3%BC%26limit%3D9&limit=7&sort=downloads\(fields) HTTP/1.1")
  }

  private func listing(_ paths: [String]) -> HubListing {
    HubListing(
      commit: "", files: paths.map { HubFile(path: $0, size: 5, hash: .gitBlob(String(repeating: "0", count: 40))) })
  }

  @Test func several_ggufs_are_choices_and_parts_are_one() {
    let choices = listing([
      "x-Q8_0.gguf", "x-Q4_K_M-00001-of-00002.gguf", "x-Q4_K_M-00002-of-00002.gguf", "mmproj-x.gguf", "config.json",
    ]).ggufChoices
    #expect(choices.map(\.pattern) == ["x-Q4_K_M*", "x-Q8_0.gguf"] && choices.map(\.sizeBytes) == [10, 5])
    #expect(listing(["x-Q8_0.gguf", "README.md"]).ggufChoices.isEmpty)
    #expect(listing(["model.safetensors", "a.gguf", "b.gguf"]).ggufChoices.isEmpty)
  }

  /// A cache with one repository whose snapshot has these files.
  private func withCache(_ names: [String], _ body: (HubCache, ModelName) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pagoda-hub-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let model = try #require(ModelName("a/b"))
    let cache = HubCache(folder: folder)
    let commit = String(repeating: "a", count: 40)
    try makeFolder("\(cache.folder(of: model))/blobs")
    for (index, name) in names.enumerated() {
      try Data(name.utf8).write(to: URL(filePath: cache.blob("blob\(index)", of: model)))
      try cache.link(name, in: commit, toBlob: "blob\(index)", of: model)
    }
    try cache.writeRef(model, commit: commit)
    try body(cache, model)
  }

  @Test func each_gguf_of_a_cached_repository_is_found_and_removed_alone() throws {
    let names = ["x-Q8_0.gguf", "x-Q4-00001-of-00002.gguf", "x-Q4-00002-of-00002.gguf", "half-00001-of-00003.gguf"]
    try withCache(names) { cache, model in
      #expect(throws: HubError.self) { try cache.location(of: model) }
      func found() -> [String] { cache.ggufModels(of: model).map { ($0 as NSString).lastPathComponent } }
      #expect(found() == ["x-Q4-00001-of-00002.gguf", "x-Q8_0.gguf"])  // "half" is incomplete
      #expect(try cache.removeGGUF("x-Q4-00001-of-00002.gguf", of: model) == Int64(names[1].count + names[2].count))
      #expect(found() == ["x-Q8_0.gguf"])
      #expect(throws: HubError.self) { try cache.removeGGUF("other.gguf", of: model) }
      _ = try cache.removeGGUF("x-Q8_0.gguf", of: model)
      #expect(cache.models().isEmpty)
    }
  }
}

/// Answers one request on this machine with a JSON text, and keeps the request's first line.
private final class OneAnswer: @unchecked Sendable {
  let port: UInt16
  private let lock = NSLock()
  private var line = ""
  var requestLine: String { lock.withLock { line } }

  init(_ body: String) throws {
    #if canImport(Glibc)
    let stream = Int32(SOCK_STREAM.rawValue)
    #else
    let stream = SOCK_STREAM
    #endif
    let listener = socket(AF_INET, stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 4) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard listener >= 0, isListening else { throw HubError.network("no port") }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in
      let client = accept(listener, nil, nil)
      var head = ""
      var buffer = [UInt8](repeating: 0, count: 4096)
      while !head.contains("\r\n\r\n") {
        let count = read(client, &buffer, buffer.count)
        if count <= 0 { break }
        head += String(decoding: buffer[..<count], as: UTF8.self)
      }
      lock.withLock { line = String(head.prefix { !$0.isNewline }) }
      let answer =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        + "Connection: close\r\n\r\n\(body)"
      _ = answer.utf8.withContiguousStorageIfAvailable { write(client, $0.baseAddress, $0.count) }
      close(client)
      close(listener)
    }
  }
}
