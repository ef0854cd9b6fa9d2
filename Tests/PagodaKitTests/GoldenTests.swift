// Every TextTokenizer gives the same results as the Python libraries: ids, texts, conversations.
import Foundation
import PagodaKit
import PagodaMini
import Testing

#if Transformers
import PagodaTransformers
#endif

@Suite struct GoldenTests {
  private static let golden: JSONValue? = {
    let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
      path: "Fixtures/golden/mini.json")
    return (try? String(contentsOf: fixtures, encoding: .utf8)).flatMap { JSONValue.parse($0) }
  }()

  private static func ids(_ value: JSONValue?) -> [Int32] {
    value?.arrayValue?.compactMap { $0.intValue.map(Int32.init) } ?? []
  }

  private func check(_ tokenizer: any TextTokenizer) throws {
    let texts = try #require(Self.golden?["texts"]?.arrayValue)
    #expect(texts.count > 10)
    for row in texts {
      let text = try #require(row["text"]?.stringValue)
      let ids = try tokenizer.encodeWithControlTokens(text)
      #expect(ids == Self.ids(row["ids"]), "\(text)")
      #expect(try tokenizer.decode(ids, skippingSpecialTokens: false) == row["decoded"]?.stringValue, "\(text)")
      #expect(
        try tokenizer.decode(ids, skippingSpecialTokens: true) == row["decoded_without_special"]?.stringValue, "\(text)"
      )
    }
    #expect(tokenizer.id(of: "<|im_end|>") == 4089 && tokenizer.id(of: "no such token") == nil)
  }

  private func check(chats encode: ([Message], Bool?) throws -> [Int32]) throws {
    let chats = try #require(Self.golden?["chats"]?.arrayValue)
    #expect(chats.count > 4)
    for row in chats {
      let messages = try #require(row["messages"]?.arrayValue).map { message in
        Message(
          role: Message.Role(rawValue: message["role"]?.stringValue ?? "") ?? .user,
          content: message["content"]?.stringValue ?? "", reasoning: message["reasoning"]?.stringValue)
      }
      #expect(try encode(messages, row["thinking"]?.boolValue) == Self.ids(row["ids"]), "\(messages)")
    }
  }

  @Test func own_tokenizer_meets_the_golden_file() async throws { try check(try await Tokenizer.load(.mini)) }

  @Test func own_template_meets_the_golden_file() async throws {
    let engine = try await Engine.load(.mini)
    try check { try engine.encode(.messages($0), thinking: $1).ids }
    await engine.shutDown()
  }

  @Test func swift_transformers_meets_the_golden_file() async throws {
    #if Transformers
    let model = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/MiniModel/files")
    let folder = FileManager.default.temporaryDirectory.appending(path: "pagoda-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["tokenizer.json", "config.json", "chat_template.jinja"] {
      try FileManager.default.copyItem(at: model.appending(path: name), to: folder.appending(path: name))
    }
    let template = try String(contentsOf: model.appending(path: "chat_template.jinja"), encoding: .utf8)
    let config = JSONValue.object([
      "tokenizer_class": .string("Qwen2Tokenizer"), "clean_up_tokenization_spaces": .bool(false),
      "chat_template": .string(template),
    ])
    try Data(config.text.utf8).write(to: folder.appending(path: "tokenizer_config.json"))
    let tokenizer = try await HubTokenizer(folder: folder.path)
    try check(tokenizer)
    try check { try tokenizer.encode($0, thinking: $1) }
    #else
    print("not run: the trait Transformers is off; Tools/checks/adapter.sh checks the types of the adapter")
    #endif
  }
}
