// Files, forms, batches and sealed thinking: limits, malformed input, and what a changed byte does.
import Foundation
import PagodaKit
import Testing

@testable import PagodaServer

@Suite struct BatchTests {
  @Test func files_are_bounded_by_number_and_bytes() throws {
    let store = FileStore(limits: .init(count: 2, bytes: 100, allBytes: 150))
    let first = try store.add(Array(repeating: 1, count: 60), name: "a", purpose: "batch", owner: "ana")
    #expect(throws: APIError.self) {
      try store.add(Array(repeating: 1, count: 41), name: "b", purpose: "batch", owner: "ana")
    }
    _ = try store.add(Array(repeating: 1, count: 40), name: "b", purpose: "batch", owner: "ana")
    #expect(throws: APIError.self) { try store.append([1], to: first.id) }
    #expect(throws: APIError.self) { try store.add([], name: "c", purpose: "batch", owner: "ana") }
    #expect(throws: APIError.self, "all owners together") {
      try store.add(Array(repeating: 1, count: 51), name: "a", purpose: "batch", owner: "ben")
    }
    #expect(store.find(first.id, owner: "ben") == nil && store.list(owner: "ben").isEmpty)
    store.remove(first.id)
    let last = try store.add(Array(repeating: 1, count: 60), name: "c", purpose: "batch", owner: "ana")
    #expect(store.list(owner: "ana").map(\.name) == ["b", "c"] && store.content(last.id)?.count == 60)
  }

  @Test func hidden_and_expired_files_are_not_found() throws {
    let store = FileStore()
    let hidden = try store.add([1], name: "a", purpose: "batch_output", owner: "", isHidden: true)
    #expect(store.find(hidden.id, owner: "") == nil && store.content(hidden.id) == [1])
    store.show(hidden.id)
    #expect(store.find(hidden.id, owner: "") != nil)
    let old = try store.add([1], name: "b", purpose: "batch", owner: "", lifetime: -1)
    #expect(store.find(old.id, owner: "") == nil)
  }

  @Test func forms_are_read() throws {
    #expect(Multipart.boundary(of: "multipart/form-data; boundary=\"a b\"") == "a b")
    #expect(Multipart.boundary(of: "Multipart/Form-Data;boundary=x; charset=utf-8") == "x")
    for type in ["application/json", "multipart/form-data", "multipart/form-data; boundary="] {
      #expect(Multipart.boundary(of: type) == nil, "\(type)")
    }
    let body =
      "--x\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--x\r\n"
      + "content-disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\nContent-Type: text/plain\r\n\r\n"
      + "one\r\n--y\r\ntwo\r\n--x--\r\n"
    let form = try Multipart(Array(body.utf8), boundary: "x")
    #expect(
      form.text("purpose") == "batch" && form.text("file") == "one\r\n--y\r\ntwo" && form.parts[1].filename == "a.jsonl"
    )
    for count in 0..<(body.utf8.count - 4) {
      #expect(throws: APIError.self, "\(count) bytes") { try Multipart(Array(body.utf8.prefix(count)), boundary: "x") }
    }
    let many = String(repeating: "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n", count: 40) + "--x--"
    #expect(throws: APIError.self) { try Multipart(Array(many.utf8), boundary: "x") }
  }

  @Test func thinking_is_sealed() {
    let seal = ReasoningSeal(key: [1, 2, 3])
    for text in ["", "short", String(repeating: "ä long thought ", count: 100)] {
      let sealed = seal.seal(text)
      #expect(seal.open(sealed) == .text(text) && sealed != seal.seal(text))
      #expect(ReasoningSeal(key: [1, 2, 4]).open(sealed) == .foreign)
      #expect(!seal.isForged(seal.sign(text), of: text) && seal.isForged(seal.sign(text), of: text + "!"))
      #expect(!ReasoningSeal(key: [1, 2, 4]).isForged(seal.sign(text), of: "other"))
      var bytes = Array(Data(base64Encoded: String(sealed.dropFirst(5))) ?? Data())
      for index in 8..<bytes.count {
        bytes[index] ^= 1
        #expect(seal.open("pgd1." + Data(bytes).base64EncodedString()) == .broken, "byte \(index)")
        bytes[index] ^= 1
      }
    }
    #expect(seal.open("gAAAAB") == .foreign && seal.open("pgd1.!") == .foreign)
  }

  @Test func the_least_recently_used_conversations_go() throws {
    let store = ConversationStore(maximumBytes: 4000, maximumCount: 3)
    let ids = try (0..<3).map { _ in try store.create([], metadata: .object([]), owner: "a").id }
    #expect(store.find(ids[0], owner: "a") != nil && store.find(ids[1], owner: "b") == nil)
    let new = try store.create([], metadata: .object([]), owner: "b").id
    #expect(ids.map { store.find($0, owner: "a") != nil } == [true, false, true])
    let large = JSONValue.string(String(repeating: "x", count: 900))
    #expect(throws: APIError.self) { try store.create([large, large], metadata: .null, owner: "a") }
    #expect(try store.add([large], to: ids[0], owner: "b") == nil)
    for _ in 0..<4 { _ = try store.create([large], metadata: .null, owner: "a") }
    #expect(store.find(new, owner: "b") != nil, "the owner of most makes room for its own")
  }

  @Test func lines_of_batches_run_after_all_others() {
    let guarding = Guard(keys: [APIKey(name: "a", key: "k")], isLoopbackOnly: true)
    var request = HTTPRequest(method: "POST", path: "/", headers: [HTTPHeader("x-api-key", "k")])
    #expect(guarding.priority(of: request, 5) == 5)
    request.isBatch = true
    #expect(
      guarding.priority(of: request, -5) > 1000 && guarding.priority(of: request, Int(Int32.max)) == Int(Int32.max))
  }

  @Test func queries_are_read() {
    var request = HTTPRequest(method: "GET", path: "/", headers: [])
    request.query = "limit=5&after=file%2D1&limit=6&empty=&bare"
    #expect(request.parameter("limit") == "5" && request.parameter("after") == "file-1")
    #expect(request.parameter("empty") == "" && request.parameter("bare") == "" && request.parameter("x") == nil)
  }

  @Test func a_full_storage_ends_a_batch_and_keeps_what_was_answered() async throws {
    let server = try await Shared.start { $0.fileLimits = .init(bytes: 6000) }
    let files = try #require(server.front.host?.files)
    let lines = (0..<20).map {
      #"{"custom_id":"\#($0)","method":"POST","url":"/v1/chat/completions","body":\#(Shared.chat("Hello!"))}"#
    }
    let file = try files.add(Array(lines.joined(separator: "\n").utf8), name: "a", purpose: "batch", owner: "")
    let body = #"{"input_file_id":"\#(file.id)","endpoint":"/v1/chat/completions","completion_window":"24h"}"#
    let batch = try server.post("/v1/batches", body).json["id"]?.stringValue ?? ""
    #expect(try await eventually { (try? server.get("/v1/batches/\(batch)").json["status"]?.stringValue) == "failed" })
    let ended = try server.get("/v1/batches/\(batch)").json
    #expect(ended["errors"]?["data"]?.arrayValue?.first?["code"]?.stringValue == "storage_full")
    let output = try #require(ended["output_file_id"]?.stringValue)
    let answered = try server.get("/v1/files/\(output)/content").text.split(separator: "\n").count
    #expect(Int64(answered) == ended["request_counts"]?["completed"]?.intValue && answered > 0 && answered < 20)
    await server.shutDown()
  }
}
