// What the system does to an app: memory pressure, the background, and a slow disk.
import Foundation
import PagodaKit
import Testing

@testable import PagodaChatCore

/// Reports pressure when the test says so.
final class ScriptedMemory: MemoryWatch {
  let report = Locked<(@Sendable (MemoryPressure) -> Void)?>(nil)

  func begin(_ report: @escaping @Sendable (MemoryPressure) -> Void) -> (any Sendable)? {
    self.report.withLock { $0 = report }
    return "watching"
  }

  func say(_ pressure: MemoryPressure) { report.withLock { $0 }?(pressure) }
}

@MainActor @Suite struct SystemTests {
  @Test func pressure_unloads_a_model_that_answers_no_one() async throws {
    try await withFolder { folder in
      let (loader, memory) = (ScriptedLoader(), ScriptedMemory())
      let app = try AppModel(folder: folder, loader: loader, downloader: ScriptedDownloader(), memory: memory)
      await app.start()
      app.newChat()
      let transcript = try #require(app.conversations.transcript)
      transcript.send("Hello")
      await app.relieve(.critical)
      #expect(app.engines.engine != nil && transcript.isAnswering, "an answer is never given up")
      loader.engine.say("Hi.")
      #expect(await eventually { !transcript.isAnswering })
      await app.relieve(.warning, now: app.idleSince)
      #expect(app.engines.engine != nil, "it was used a moment ago")
      memory.say(.critical)
      #expect(await eventually { app.engines.state == .unloaded })
      #expect(await eventually { loader.engine.state.withLock { $0.isShutDown } })
      transcript.send("Again")  // loads it again
      #expect(await eventually { loader.engine.state.withLock { $0.requests.count } == 2 })
      loader.engine.say("Hi again.")
      #expect(await eventually { !transcript.isAnswering })
      await app.relieve(.warning, now: .now + .seconds(3600))
      #expect(app.engines.state == .unloaded, "idle for a while")
    }
  }

  @Test func pressure_closes_chats_that_no_window_shows() async throws {
    try await withFolder { folder in
      let app = try AppModel(folder: folder, loader: ScriptedLoader(), downloader: ScriptedDownloader())
      let pool = app.conversations.pool
      var ids: [UUID] = []
      for text in ["shown", "hidden", "with a draft"] {
        let conversation = Conversation(title: text)
        try pool.store.save(conversation)
        ids.append(conversation.id)
      }
      app.conversations.refresh()
      app.conversations.selection = ids[0]
      for id in ids { _ = app.conversations.transcript(of: id) }
      pool.transcript(of: ids[2])?.composer.text = "unsent"
      await app.relieve(.warning)
      #expect(pool.openTranscript(ids[0]) != nil && pool.openTranscript(ids[1]) == nil)
      #expect(pool.openTranscript(ids[2])?.composer.text == "unsent")
    }
  }

  @Test func answers_stop_in_the_background_and_go_on_afterwards() async throws {
    try await withFolder { folder in
      let loader = ScriptedLoader()
      let app = try AppModel(folder: folder, loader: loader, downloader: ScriptedDownloader())
      await app.start()
      app.newChat()
      let transcript = try #require(app.conversations.transcript)
      transcript.send("Count")
      app.enteredBackground(stopsAnswers: false)
      #expect(transcript.isAnswering && loader.engine.state.withLock { $0.cancelled } == 0, "as on a Mac")
      loader.engine.answer.yield(.text("one, "))
      #expect(await eventually { transcript.messages.last?.text == "one, " })
      app.enteredBackground(stopsAnswers: true)
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.messages.last?.state == .stopped && loader.engine.state.withLock { $0.cancelled } == 1)
      app.enteredForeground()
      #expect(transcript.isAnswering)
      #expect(loader.engine.state.withLock { $0.requests.last?.answerStart } == "one, ")
      loader.engine.say("two.")
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.messages.map(\.text) == ["Count", "one, two."])
      app.enteredForeground()
      #expect(!transcript.isAnswering, "only an answer that the background stopped continues")
    }
  }

  @Test func a_slow_disk_does_not_hold_the_main_thread() async throws {
    try await withFolder { folder in
      let conversation = Conversation(title: "kept")
      let store = try ConversationStore(folder: folder, writing: .inBackground)
      let size = { (try? FileManager.default.attributesOfItem(atPath: store.url.path)[.size] as? Int) ?? 0 }
      store.waitUntilWritten()
      let before = size()
      var parent: UUID?
      for number in 0..<200 {
        let message = ChatMessage(conversationID: conversation.id, parentID: parent, role: .user, text: "\(number)")
        try store.save(conversation, [message])
        parent = message.id
      }
      #expect(store.messages(of: conversation.id).count == 200)  // at once, in memory
      store.waitUntilWritten()
      #expect(size() > before + 200 * 50)
      #expect(throws: StoreError.self) { try ConversationStore(folder: folder) }  // still locked by the first
    }
  }

  @Test func chats_written_in_the_background_are_read_again() async throws {
    try await withFolder { folder in
      var app: AppModel? = try await AppModel.open(folder: folder, loader: ScriptedLoader())
      app?.newChat()
      let id = try #require(app?.conversations.selection)
      app?.conversations.rename(id, to: "Kept")
      app?.close()
      app = nil
      var again: ConversationStore?
      #expect(await eventually { (try? ConversationStore(folder: folder)).map { again = $0 } != nil })
      #expect(again?.conversation(id)?.title == "Kept")
    }
  }

  @Test func a_disk_that_fails_is_reported() async throws {
    try await withFolder { folder in
      let store = try ConversationStore(folder: folder, writing: .inBackground)
      let failures = Locked(0)
      store.onFailure { _ in failures.withLock { $0 += 1 } }
      // Enough superseded records for a rewrite, whose new file cannot be created.
      try FileManager.default.removeItem(at: folder)
      let conversation = Conversation(title: "rewritten")
      for _ in 0..<1100 { try store.save(conversation) }
      store.waitUntilWritten()
      #expect(failures.withLock { $0 } > 0)
    }
  }
}
