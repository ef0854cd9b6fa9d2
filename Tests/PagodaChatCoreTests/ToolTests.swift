// Tools in chats: servers, consent to each call, results that the model reads, and what is stored of them.
import Foundation
import PagodaKit
import PagodaMCP
import Testing

@testable import PagodaChatCore

/// A server with the tools `add` and `fail`.
final class ScriptedTools: ToolProvider {
  let calls = Locked<[String]>([])
  let name: String

  init(_ name: String) { self.name = name }

  func definitions() async throws -> [ToolDefinition] {
    if name == "broken" { throw MCPError(server: name, message: "the program ended") }
    return [ToolDefinition(name: "add", description: "Adds"), ToolDefinition(name: "fail-\(name)", description: "")]
  }
  func call(_ tool: String, arguments: String) async throws -> String {
    calls.withLock { $0.append("\(tool) \(arguments)") }
    if tool != "add" { throw MCPError(server: name, message: "no luck") }
    return "42"
  }
  func close() async {}
}

@MainActor @Suite struct ChatToolTests {
  private func withTools(
    _ names: [String], _ body: (AppModel, TranscriptModel, ScriptedEngine, [String: ScriptedTools]) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      let loader = ScriptedLoader()
      let servers = Dictionary(uniqueKeysWithValues: names.map { ($0, ScriptedTools($0)) })
      let app = try AppModel(
        folder: folder, loader: loader, downloader: ScriptedDownloader(), connect: { servers[$0.name]! })
      for name in names { app.tools.save(MCPServer(name: name, command: "unused")) }
      await app.start()
      await app.tools.refresh()
      app.newChat()
      try await body(app, try #require(app.conversations.transcript), loader.engine, servers)
    }
  }

  private func call(_ name: String, _ engine: ScriptedEngine, _ text: String = "") {
    if !text.isEmpty { engine.answer.yield(.text(text)) }
    engine.answer.yield(.toolCall(ToolCall(id: "call-\(name)", name: name, arguments: "{}")))
    engine.say("")
  }

  @Test func a_call_is_made_after_consent_and_its_result_is_read() async throws {
    try await withTools(["math"]) { app, transcript, engine, servers in
      transcript.send("What is 40 + 2?")
      #expect(engine.state.withLock { $0.requests[0].tools.map(\.name) } == ["add", "fail-math"])
      call("add", engine, "Let me see. ")
      #expect(await eventually { app.tools.question != nil })
      #expect(app.tools.question?.server == "math" && servers["math"]?.calls.withLock { $0 } == [])
      app.tools.answer(true)
      #expect(await eventually { engine.state.withLock { $0.requests.count } == 2 })
      #expect(servers["math"]?.calls.withLock { $0 } == ["add {}"])
      #expect(engine.lastMessages.map(\.role) == [.user, .assistant, .tool])
      #expect(engine.lastMessages[1].toolCalls.map(\.name) == ["add"] && engine.lastMessages[2].content == "42")
      engine.say("It is 42.")
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.messages.last?.text == "Let me see. It is 42.")
      #expect(transcript.messages.last?.toolRounds?.first?.runs.map(\.result) == ["42"])
      transcript.send("Thanks")  // later prompts have the calls too
      let roles = engine.lastMessages.map(\.role)
      #expect(roles == [.user, .assistant, .tool, .assistant, .user])
      #expect(engine.lastMessages[1].content == "Let me see. " && engine.lastMessages[3].content == "It is 42.")
      engine.say("You are welcome.")
      #expect(await eventually { !transcript.isAnswering })
    }
  }

  @Test func a_refused_call_is_not_made() async throws {
    try await withTools(["math"]) { app, transcript, engine, servers in
      for round in 0..<2 {
        transcript.send("What is 40 + 2?")
        call("add", engine)
        if round == 0 {  // and never asked again
          #expect(await eventually { app.tools.question != nil })
          app.tools.answer(false, always: true)
        }
        #expect(await eventually { engine.lastMessages.last?.role == .tool })
        #expect(engine.lastMessages.last?.content.contains("refused") == true && app.tools.question == nil)
        engine.say("Then not.")
        #expect(await eventually { !transcript.isAnswering })
      }
      #expect(servers["math"]?.calls.withLock { $0 } == [])
      #expect(app.settings.settings.toolConsents == ["math/add": .never])
      app.tools.remove("math")
      #expect(app.settings.settings.toolConsents.isEmpty && app.settings.settings.toolServers.isEmpty)
    }
  }

  @Test func a_decision_can_be_taken_back() async throws {
    try await withTools(["math"]) { app, transcript, engine, servers in
      app.settings.settings.toolConsents = ["math/add": .always, "math/a": .never, "maths/add": .never]
      let decisions = app.tools.decisions(of: "math")
      #expect(decisions.map(\.text) == ["a is always refused", "add is always allowed"])
      app.tools.forget(decisions[1])
      #expect(app.settings.settings.toolConsents == ["math/a": .never, "maths/add": .never])
      transcript.send("What is 40 + 2?")
      call("add", engine)
      #expect(await eventually { app.tools.question != nil })
      #expect(servers["math"]?.calls.withLock { $0 } == [])
      transcript.stop()
      #expect(await eventually { !transcript.isAnswering })
    }
  }

  @Test func stopping_ends_a_question() async throws {
    try await withTools(["math"]) { app, transcript, engine, _ in
      transcript.send("What is 40 + 2?")
      call("add", engine)
      #expect(await eventually { app.tools.question != nil })
      transcript.stop()
      #expect(await eventually { !transcript.isAnswering && app.tools.question == nil })
      #expect(transcript.messages.last?.state == .stopped)
    }
  }

  @Test func servers_have_states_and_equal_names_stay_apart() async throws {
    try await withTools(["a", "b", "broken"]) { app, transcript, engine, servers in
      #expect(app.tools.states["a"] == .ready(tools: ["add", "fail-a"]))
      guard case .failed(let failure) = app.tools.states["broken"] else {
        Issue.record("\(app.tools.states)")
        return
      }
      #expect(failure.cause.contains("the program ended"))
      #expect(app.tools.definitions.map(\.name) == ["a_add", "fail-a", "b_add", "fail-b"])
      app.settings.settings.toolConsents = ["b/add": .always, "a/fail-a": .always]
      transcript.send("Go")
      engine.answer.yield(.toolCall(ToolCall(id: "1", name: "b_add", arguments: "{}")))
      engine.answer.yield(.toolCall(ToolCall(id: "2", name: "fail-a", arguments: "{}")))
      engine.answer.yield(.toolCall(ToolCall(id: "3", name: "unknown", arguments: "{}")))
      engine.say("")
      #expect(await eventually { engine.lastMessages.count == 5 })
      #expect(servers["b"]?.calls.withLock { $0 } == ["add {}"])
      #expect(engine.lastMessages[3].content.contains("no luck") && engine.lastMessages[4].content.contains("no tool"))
      engine.say("Done.")
      #expect(await eventually { !transcript.isAnswering })
    }
  }

  @Test func a_model_that_calls_in_circles_is_stopped() async throws {
    try await withTools(["math"]) { app, transcript, engine, servers in
      app.settings.settings.toolConsents = ["math/add": .always]
      transcript.send("Go")
      for round in 1...(TranscriptModel.mostRounds + 1) {
        #expect(await eventually { engine.state.withLock { $0.requests.count } == round })
        call("add", engine)
      }
      #expect(await eventually { !transcript.isAnswering })
      #expect(servers["math"]?.calls.withLock { $0.count } == TranscriptModel.mostRounds)
    }
  }
}
