// Prefixes that a client pins, and conversations whose state is saved to a file and restored in another engine.
import Foundation
import PagodaKit
import PagodaMini
import PagodaTesting
import Testing

@Suite struct KeptPrefixTests {
  private static let instructions = String(repeating: "Answer every question briefly and politely. ", count: 12)
  private static let transcript = Transcript(
    instructions: instructions, sampling: SamplingParameters(temperature: 0),
    messages: [.user("My name is Priya."), .assistant("Hello Priya!")])

  private final class Folder {
    let url = FileManager.default.temporaryDirectory.appending(path: "pagoda-\(UUID().uuidString)")
    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }
  }

  /// A cache that a few long prompts fill.
  private static func smallEngine() async throws -> Engine {
    try await Engine.load(
      .mini, options: EngineOptions(maximumSequences: 1, maximumModelLength: 1024, kvBlockCount: 80))
  }

  /// Long prompts that have nothing in common, enough to evict everything else.
  private static func fill(_ engine: Engine) async throws {
    for number in 0..<6 {
      let ids = (0..<600).map { Int32(100 + ($0 * 37 + number * 101) % 1000) }
      let request = Request(prompt: .tokens(ids), sampling: SamplingParameters(maximumTokens: 1))
      _ = try await engine.respond(to: request)
    }
  }

  @Test func a_pinned_conversation_stays_in_a_full_cache_until_it_is_released() async throws {
    let engine = try await Self.smallEngine()
    let session = ChatSession(engine, transcript: Self.transcript)
    var pin: PinnedPrefix? = try await session.pinPrefix()
    let count = try #require(pin).tokenCount
    #expect(count > 100)
    try await Self.fill(engine)
    let first = try await session.respond(to: "What is my name?")
    #expect(first.usage.cachedTokens >= count)
    pin = nil
    try await Self.fill(engine)
    session.history = Self.transcript.messages
    let again = try await session.respond(to: "What is my name?")
    #expect(again.usage.cachedTokens == 0 && again.text == first.text)
    await engine.shutDown()
  }

  @Test func a_pin_ends_when_told_and_outlives_its_engine_without_effect() async throws {
    let engine = try await Self.smallEngine()
    let tokens = try engine.promptTokens(of: Request(Self.instructions))
    #expect(try engine.tokenCount(of: Request(Self.instructions)) == tokens.count)
    let pin = try await engine.pinPrefix(of: tokens)
    pin.unpin()
    pin.unpin()
    try await Self.fill(engine)
    #expect(try engine.findPrefix(of: tokens).cachedTokens == 0)
    let last = try await engine.pinPrefix(of: tokens)
    await engine.shutDown()
    last.unpin()
    await #expect { try await engine.pinPrefix(of: tokens) } throws: { ($0 as? PagodaError)?.code == "shut_down" }
  }

  @Test func more_than_half_of_the_cache_cannot_be_pinned() async throws {
    let engine = try await Self.smallEngine()
    let long = (0..<900).map { Int32(100 + $0 * 37 % 1000) }
    await #expect {
      _ = try await engine.pinPrefix(of: long)
    } throws: {
      guard case PagodaError.resourceExhausted(let message) = $0 else { return false }
      return message.contains("can be pinned")
    }
    await engine.shutDown()
  }

  @Test func a_saved_state_continues_in_another_engine_with_the_same_answer() async throws {
    let folder = try Folder()
    let file = folder.url.appending(path: "chat.state")
    let engine = try await Self.smallEngine()
    let session = ChatSession(engine, transcript: Self.transcript)
    let saved = try await session.saveState(to: file)
    let answer = try await session.respond(to: "\n\nWhat is my name?")
    await engine.shutDown()

    let other = try await Self.smallEngine()
    let continued = ChatSession(other, transcript: Self.transcript)
    #expect(try await continued.restoreState(from: file) == saved)
    let response = try await continued.respond(to: "\n\nWhat is my name?")
    #expect(response.text == answer.text && response.usage.cachedTokens >= saved && saved > 100)
    #expect(try await ChatSession(other, instructions: "Shout.").restoreState(from: file) == 0)
    await other.shutDown()
  }

  @Test func states_of_other_models_versions_and_damaged_ones_are_refused() async throws {
    let folder = try Folder()
    let file = folder.url.appending(path: "chat.state")
    let engine = try await Self.smallEngine()
    let session = ChatSession(engine, transcript: Self.transcript)
    try await session.saveState(to: file)
    let bytes = try Data(contentsOf: file)

    func refusal(_ change: (inout Data) -> Void) async throws -> String? {
      let changed = folder.url.appending(path: "changed.state")
      var data = bytes
      change(&data)
      try data.write(to: changed)
      do { _ = try await session.restoreState(from: changed) } catch let error as PagodaError { return error.code }
      return nil
    }
    #expect(try await refusal { _ in } == nil)
    #expect(try await refusal { $0.removeLast(100) } == "bad_file")
    #expect(try await refusal { $0.removeAll() } == "bad_file")
    #expect(try await refusal { $0[$0.count / 2] ^= 4 } == "bad_file")
    #expect(try await refusal { $0[0] ^= 4 } == "bad_file")
    #expect(try await refusal { $0.replaceSubrange(14..<15, with: Data("2".utf8)) } == "unsupported")

    let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/model/qwen3_5")
    let other = try await Engine.load(.folder(fixture))
    await #expect {
      try await other.restorePrefix(from: file)
    } throws: {
      guard case PagodaError.unsupported(let message) = $0 else { return false }
      return message.contains("another model")
    }
    await #expect {
      try await session.restoreState(from: folder.url.appending(path: "none"))
    } throws: {
      ($0 as? PagodaError)?.code == "not_found"
    }
    await other.shutDown()
    await engine.shutDown()
  }

  @Test func engines_without_a_cache_refuse() async throws {
    let scripted = ChatSession(ScriptedEngine("Hello."))
    await #expect { _ = try await scripted.pinPrefix() } throws: { ($0 as? PagodaError)?.code == "unsupported" }
    let engine = try await Engine.load(.mini, options: EngineOptions(prefixCache: false))
    let session = ChatSession(engine, instructions: Self.instructions)
    await #expect { _ = try await session.pinPrefix() } throws: { ($0 as? PagodaError)?.code == "unsupported" }
    await engine.shutDown()
  }
}
