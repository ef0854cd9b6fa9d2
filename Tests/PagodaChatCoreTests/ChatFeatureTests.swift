// What users of other apps expect of a chat: continue, find, folders, titles, a model and preset per chat, statistics.
import Foundation
import PagodaKit
import Testing

@testable import PagodaChatCore

@MainActor @Suite struct ChatFeatureTests {
  private func withChat(
    _ body: (AppModel, TranscriptModel, ScriptedEngine) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      let loader = ScriptedLoader()
      let app = try AppModel(folder: folder, loader: loader, downloader: ScriptedDownloader())
      await app.start()
      app.newChat()
      try await body(app, try #require(app.conversations.transcript), loader.engine)
    }
  }

  @Test func a_cut_answer_is_continued_in_place() async throws {
    try await withChat { _, transcript, engine in
      transcript.send("Count")
      engine.say("one, ", .length)
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.messages.last?.state == .cutOff && transcript.canContinue)
      let id = transcript.messages.last?.id
      transcript.continueAnswer()
      #expect(transcript.messages.count == 2 && transcript.messages.last?.id == id)
      #expect(engine.state.withLock { $0.requests.last?.answerStart } == "one, ")
      #expect(engine.lastMessages.map(\.content) == ["Count"])
      engine.say("two.")
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.messages.last?.text == "one, two." && !transcript.canContinue)
      let last = try #require(transcript.messages.last)
      #expect(transcript.blocks(of: last).count == 1)
    }
  }

  @Test func the_embedded_model_continues_an_answer() async throws {
    let engine = try await Engine.load(.mini, options: EngineOptions(device: .cpu))
    var request = Request(
      messages: [.user("What is the capital of France?")], sampling: SamplingParameters(temperature: 0))
    let whole = try await engine.respond(to: request).text
    let cut = whole.index(whole.startIndex, offsetBy: whole.count / 2)
    // Cut after a space, where tokens begin.
    let start = whole[..<(whole[..<cut].lastIndex(of: " ") ?? cut)]
    request.answerStart = String(start)
    let rest = try await engine.respond(to: request).text
    #expect(String(start) + rest == whole)
    request.grammar = .choice(["a"])
    await #expect(throws: PagodaError.self) { try await engine.respond(to: request) }
    var text = Request(prompt: .text("Hello"))
    text.answerStart = "x"
    await #expect(throws: PagodaError.self) { try await engine.respond(to: text) }
    await engine.shutDown()
  }

  @Test func a_text_is_found_in_the_chat() async throws {
    try await withChat { _, transcript, engine in
      transcript.send("Where is the café?")
      engine.say("The CAFE is here; the other cafe is there.")
      #expect(await eventually { !transcript.isAnswering })
      let (find, messages) = (transcript.find, transcript.messages)
      #expect(find.status(in: messages) == nil)
      find.query = "cafe"
      #expect(find.matches(in: messages).map(\.occurrence) == [0, 0, 1])
      #expect(find.status(in: messages) == "1 of 3" && find.current(in: messages)?.messageID == messages[0].id)
      find.advance(in: messages)
      find.advance(in: messages)
      #expect(find.current(in: messages) == FindModel.Match(messageID: messages[1].id, occurrence: 1))
      find.advance(in: messages)
      #expect(find.status(in: messages) == "1 of 3", "the first follows the last")
      find.advance(-1, in: messages)
      #expect(find.status(in: messages) == "3 of 3")
      find.query = "tea"
      #expect(find.status(in: messages) == "Not found" && find.current(in: messages) == nil)
      find.close()
      #expect(find.query.isEmpty && !find.isShown)
    }
  }

  @Test func chats_have_folders() async throws {
    try await withFolder { folder in
      var store: ConversationStore? = try ConversationStore(folder: folder)
      let engines = EngineModel(loader: ScriptedLoader())
      let list = ConversationListModel(store: try #require(store), engines: engines)
      let ids = try ["a", "b", "c"].map { title in
        let conversation = Conversation(title: title)
        try list.pool.store.save(conversation)
        return conversation.id
      }
      list.move(ids[0], to: " Work ")
      list.move(ids[1], to: "Home")
      #expect(list.folders == ["Home", "Work"])
      #expect(list.sections.map(\.folder) == ["", "Home", "Work"])
      #expect(list.sections.map { $0.hits.map(\.conversation.title) } == [["c"], ["b"], ["a"]])
      list.renameFolder("Home", to: "Work")
      #expect(list.folders == ["Work"] && list.sections.last?.hits.count == 2)
      list.move(ids[0], to: "")
      #expect(list.sections.first?.hits.count == 2)
      store = nil
      _ = list
    }
  }

  @Test func a_chat_loads_its_own_model() async throws {
    try await withFolder { folder in
      let (loader, hub) = (ScriptedLoader(), ScriptedDownloader())
      hub.state.withLock { $0.installed = [InstalledModel(id: "org/own", folder: folder, sizeBytes: 1)] }
      let app = try AppModel(folder: folder, loader: loader, downloader: hub)
      await app.start()
      app.newChat()
      let transcript = try #require(app.conversations.transcript)
      var settings = ChatSettings()
      settings.instructions = "Translate."
      #expect(app.settings.savePreset("Translator", settings, modelName: "org/own"))
      #expect(!app.settings.savePreset(" ", settings))
      transcript.use(app.settings.settings.presets[0])
      transcript.send("Hello")
      #expect(await eventually { app.engines.state == .ready(name: "org/own") })
      #expect(await eventually { loader.engine.state.withLock { $0.requests.count } == 1 })
      #expect(loader.engine.lastMessages.first?.content == "Translate.")
      loader.engine.say("Hallo")
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.messages.last?.modelName == "org/own")
      transcript.modelName = "org/gone"
      transcript.send("Again")
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.failure?.cause.contains("org/gone") == true)
      app.settings.removePreset("Translator")
      #expect(app.settings.settings.presets.isEmpty)
    }
  }

  @Test func the_model_writes_the_title() async throws {
    try await withFolder { folder in
      let (loader, hub) = (ScriptedLoader(), ScriptedDownloader())
      hub.state.withLock { $0.installed = [InstalledModel(id: "org/own", folder: folder, sizeBytes: 1)] }
      let app = try AppModel(folder: folder, loader: loader, downloader: hub)
      await app.start()
      await app.use("org/own")
      for (own, given) in [(false, "\"Capitals of Europe.\"\n"), (true, "Another title")] {
        app.newChat()
        let transcript = try #require(app.conversations.transcript)
        transcript.send("What is the capital of France?")
        if own { app.conversations.rename(transcript.id, to: "Mine") }
        loader.engine.say("Paris.")
        #expect(await eventually { !transcript.isAnswering })
        if !own {
          #expect(await eventually { loader.engine.lastMessages.last?.content.contains("Paris.") == true })
          loader.engine.say(given)
        }
        await transcript.titling?.value
        #expect(transcript.conversation.title == (own ? "Mine" : "Capitals of Europe"))
        transcript.send("And of Spain?")
        loader.engine.say("Madrid.")
        #expect(await eventually { !transcript.isAnswering })
        #expect(loader.engine.lastMessages.last?.content == "And of Spain?", "only the first answer gives a title")
      }
      #expect(TranscriptModel.cleanTitle("\n Title: **Cats** \nmore") == "Cats")
      #expect(TranscriptModel.cleanTitle(String(repeating: "x", count: 61)) == nil)
      #expect(TranscriptModel.cleanTitle(" \"\" ") == nil)
    }
  }

  @Test func an_answer_has_statistics_in_words() async throws {
    try await withChat { _, transcript, engine in
      transcript.send("Hello")
      engine.say("Hi.")
      #expect(await eventually { !transcript.isAnswering })
      let summary = transcript.messages.last?.stats?.summary
      #expect(summary == "5 tokens, 2.0 per second, first after 0.5 s, 4 of 10 prompt tokens cached")
      #expect(TokenStats().summary == nil)
    }
  }
}
