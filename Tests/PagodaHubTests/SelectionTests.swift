// Selection of the files that make up a model.
import Testing

@testable import PagodaHub

@Suite struct SelectionTests {
  private func chosen(_ paths: [String], include: [String] = [], exclude: [String] = []) throws -> [String] {
    let files = paths.map { HubFile(path: $0, size: 1, hash: .gitBlob(String(repeating: "0", count: 40))) }
    let model = try #require(ModelName("a/b"))
    var selection = FileSelection()
    selection.include = include
    selection.exclude = exclude
    return try selection.choose(from: HubListing(commit: "", files: files), of: model).map(\.path).sorted()
  }

  @Test func safetensors_include_the_files_next_to_them() throws {
    let model = ["config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja", "merges.txt"]
    let rest = ["model.gguf", "pytorch_model.bin", "README.md", "onnx/model.onnx", "original/params.json"]
    #expect(try chosen(model + rest + ["consolidated.safetensors"]) == model.sorted())
    #expect(try chosen(["consolidated.safetensors", "params.json"]) == ["consolidated.safetensors", "params.json"])
  }

  @Test func the_parts_of_one_gguf_belong_together() throws {
    let parts = ["x-Q4_K_M-00001-of-00002.gguf", "x-Q4_K_M-00002-of-00002.gguf"]
    #expect(try chosen(parts + ["mmproj-x.gguf"]) == parts)
    #expect(throws: HubError.self) { try chosen(parts + ["x-Q8_0.gguf"]) }
    #expect(try chosen(parts + ["x-Q8_0.gguf"], include: ["*Q4_K_M*"]) == parts)
    #expect(try chosen(parts + ["x-Q8_0.gguf"], exclude: ["*Q8_0*"]) == parts)
  }

  @Test func patterns_reach_into_folders() throws {
    let paths = ["a.json", "sub/b.json", "sub/deep/c.bin"]
    #expect(try chosen(paths, include: ["*.json"]) == ["a.json", "sub/b.json"])
    #expect(try chosen(paths, include: ["sub/"]) == ["sub/b.json", "sub/deep/c.bin"])
    #expect(throws: HubError.self) { try chosen(paths) }
    #expect(throws: HubError.self) { try chosen(paths, include: ["*.gguf"]) }
  }
}
