// Saved chats: files of earlier versions open, missing keys have defaults, newer versions are refused.
import Foundation
import PagodaKit
import Testing

@Suite struct TranscriptTests {
  private func read(_ json: String) throws -> Transcript {
    try JSONDecoder().decode(Transcript.self, from: Data(json.utf8))
  }

  /// The file was written by version 0.1.0 and must open in every later version.
  @Test func a_chat_saved_by_version_0_1_0_opens() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
      path: "Fixtures/chat/transcript-0.1.0.json")
    let chat = try JSONDecoder().decode(Transcript.self, from: Data(contentsOf: file))
    #expect(chat.instructions == "Answer briefly." && chat.thinking == false)
    #expect(chat.sampling == SamplingParameters(temperature: 0, logitBias: [5: 1.5], seed: 7))
    #expect(chat.messages.map(\.role) == [.user, .assistant, .user, .assistant, .tool, .assistant])
    #expect(chat.messages[1].reasoning == "A greeting.")
    let call = ToolCall(id: "call_1", name: "get_weather", arguments: #"{"city":"Lima"}"#)
    #expect(chat.messages[3].toolCalls == [call])
    #expect(chat.messages[4] == .tool("18 degrees in Lima", callID: "call_1"))
  }

  @Test func missing_and_unknown_keys_are_tolerated() throws {
    let chat = try read(#"{"messages":[{"role":"user","colour":"red"},{"role":"assistant","content":"Hi"}],"x":1}"#)
    #expect(chat == Transcript(messages: [.user(""), .assistant("Hi")]))
    #expect(try read("{}") == Transcript())
  }

  @Test func a_transcript_carries_its_version() throws {
    let json = String(decoding: try JSONEncoder().encode(Transcript(messages: [.user("Hi")])), as: UTF8.self)
    #expect(json.contains(#""version":\#(Transcript.version)"#))
    #expect(try read(json).messages == [.user("Hi")])
    let error = #expect(throws: PagodaError.self) { try read(#"{"version":\#(Transcript.version + 1)}"#) }
    #expect(error?.code == "unsupported" && error?.message.contains("version") == true)
  }
}
