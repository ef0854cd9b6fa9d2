// Several windows, waiting models, deleted chats, drafts and settings, as the user sees them.
import Foundation
import PagodaKit
import Testing

@testable import PagodaChatCore

@MainActor @Suite struct WindowTests {
  private struct Harness {
    var app: AppModel
    var loader: ScriptedLoader
    @MainActor var store: ConversationStore { app.conversations.pool.store }
  }

  private func withApp(
    _ loader: ScriptedLoader = ScriptedLoader(), in folder: URL? = nil, _ body: (Harness) async throws -> Void
  ) async throws {
    try await withFolder { temporary in
      let app = try AppModel(folder: folder ?? temporary, loader: loader, downloader: ScriptedDownloader())
      try await body(Harness(app: app, loader: loader))
    }
  }

  @Test func a_message_sent_while_the_model_loads_is_answered_when_it_is_there() async throws {
    let gate = Gate()
    try await withApp(ScriptedLoader(gate: gate)) { harness in
      let loading = Task { await harness.app.start() }
      #expect(await eventually { harness.loader.loads.withLock { $0.count } == 1 })
      harness.app.newChat()
      let transcript = try #require(harness.app.conversations.transcript)
      transcript.send("Hello")
      #expect(transcript.isAnswering && transcript.isWaitingForModel && transcript.failure == nil)
      await gate.open()
      await loading.value
      #expect(await eventually { harness.loader.engine.state.withLock { $0.requests.count } == 1 })
      #expect(!transcript.isWaitingForModel)
      harness.loader.engine.say("Hi")
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.messages.map(\.text) == ["Hello", "Hi"])
      #expect(transcript.messages.last?.modelName == LibraryModel.embeddedName)
    }
  }

  @Test func a_message_to_an_unloaded_model_loads_it_again() async throws {
    try await withApp { harness in
      await harness.app.start()
      await harness.app.unload()
      harness.app.newChat()
      let transcript = try #require(harness.app.conversations.transcript)
      transcript.send("Hello")
      #expect(await eventually { harness.loader.engine.state.withLock { $0.requests.count } == 1 })
      harness.loader.engine.say("Hi")
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.messages.last?.text == "Hi" && harness.loader.loads.withLock { $0.count } == 2)
    }
  }

  @Test func waiting_can_be_stopped_and_a_load_that_fails_is_said() async throws {
    let gate = Gate()
    try await withApp(ScriptedLoader(error: .badFile("no weights"), gate: gate)) { harness in
      let loading = Task { await harness.app.start() }
      #expect(await eventually { harness.loader.loads.withLock { $0.count } == 1 })
      harness.app.newChat()
      let transcript = try #require(harness.app.conversations.transcript)
      transcript.send("Hello")
      transcript.stop()
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.messages.last?.state == .stopped && transcript.failure == nil && !transcript.isWaitingForModel)
      transcript.regenerate()
      await gate.open()
      await loading.value
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.failure?.cause == "no weights" && transcript.messages.last?.state == .failed("no weights"))
    }
  }

  @Test func deleting_asks_and_can_be_undone() async throws {
    try await withApp { harness in
      await harness.app.start()
      let list = harness.app.conversations
      list.begin()
      let empty = try #require(list.selection)
      list.askToRemove(empty)
      #expect(list.removalCandidate == nil && list.hits.isEmpty)  // nothing to lose

      let transcript = try #require(list.begin())
      transcript.send("Hello")
      harness.loader.engine.answer.yield(.text("Hi th"))
      #expect(await eventually { transcript.messages.last?.text == "Hi th" })
      list.askToRemove(transcript.id)
      #expect(list.removalCandidate?.id == transcript.id && list.hits.count == 1)
      list.answerRemoval(false)
      #expect(list.hits.count == 1 && list.removalCandidate == nil)
      list.askToRemove(transcript.id)
      list.answerRemoval(true)
      #expect(list.hits.isEmpty && list.selection == nil)
      #expect(await eventually { !transcript.isAnswering })
      list.undoRemoval()
      #expect(list.selection == transcript.id && list.removed.isEmpty)
      #expect(list.transcript?.messages.map(\.text) == ["Hello", "Hi th"])
      #expect(list.transcript?.messages.last?.state == .stopped)
      #expect(harness.store.messages(of: transcript.id).count == 2)
    }
  }

  @Test func windows_share_one_model_and_one_set_of_chats() async throws {
    try await withApp { harness in
      let (first, second) = (harness.app.claimWindow(), harness.app.claimWindow())
      #expect(first === harness.app.conversations && first !== second)
      await harness.app.start()
      await harness.app.start()
      #expect(harness.loader.loads.withLock { $0.count } == 1)
      harness.app.newChat(in: first)
      first.transcript?.send("one")
      harness.loader.engine.say("answer")
      #expect(await eventually { first.transcript?.isAnswering == false })
      first.refresh()
      #expect(second.hits.map(\.id) == first.hits.map(\.id) && second.selection == nil)
      second.selection = first.selection
      #expect(second.transcript === first.transcript)
      harness.app.newChat(in: second)
      #expect(second.selection != first.selection && first.hits.count == 2)
      let shared = try #require(first.selection)
      second.remove(shared)
      #expect(first.selection != shared && !first.hits.map(\.id).contains(shared))
    }
  }

  @Test func a_failure_outside_a_chat_is_shown_in_every_window_until_it_is_read() async throws {
    try await withFolder { folder in
      let app = try AppModel(folder: folder, loader: ScriptedLoader(), downloader: ScriptedDownloader())
      let windows = [app.claimWindow(), app.claimWindow()]
      #expect(windows.allSatisfy { app.failure(in: $0) == nil })
      app.importChats(Data("no chats".utf8))
      app.settings.failure = ChatFailure("The settings cannot be saved", cause: "The disk is full.")
      windows[1].failure = ChatFailure("Only here", cause: "A test.")
      #expect(app.failure(in: windows[0])?.title == "The chats cannot be imported")
      var titles: [String?] = []
      for _ in 0..<4 {
        titles.append(app.failure(in: windows[1])?.title)
        app.dismissFailure(in: windows[1])
      }
      #expect(titles == ["Only here", "The chats cannot be imported", "The settings cannot be saved", nil])
      #expect(app.failure(in: windows[0]) == nil)
    }
  }

  @Test func drafts_and_the_selection_come_back() async throws {
    try await withFolder { folder in
      var ids: [UUID] = []
      try await withApp(in: folder) { harness in
        for name in ["one", "two"] {
          harness.app.newChat()
          let transcript = try #require(harness.app.conversations.transcript)
          transcript.send(name)
          ids.append(transcript.id)
        }
        harness.app.conversations.transcript(of: ids[0])?.composer.text = "draft of one"
        harness.app.conversations.transcript(of: ids[1])?.composer.text = "draft of two"
        #expect(harness.app.conversations.transcript(of: ids[0])?.composer.text == "draft of one")
        harness.app.conversations.selection = ids[0]
        harness.app.flush()
      }
      try await withApp(in: folder) { harness in
        #expect(harness.app.conversations.selection == ids[0])
        let texts = ids.map { harness.app.conversations.transcript(of: $0)?.composer.text }
        #expect(texts == ["draft of one", "draft of two"])
      }
    }
  }

  @Test func typing_writes_nothing() async throws {
    try await withFolder { folder in
      try await withApp(in: folder) { harness in
        harness.app.newChat()
        let transcript = try #require(harness.app.conversations.transcript)
        transcript.send("one")
        harness.app.flush()
        @MainActor func size() throws -> Int { try Data(contentsOf: harness.store.url).count }
        let (before, writes) = (try size(), harness.app.settings.writeCount)
        for count in 1...200 {
          transcript.settings.instructions = String(repeating: "x", count: count)
          transcript.composer.text = String(repeating: "y", count: count)
          harness.app.settings.settings.newChats.instructions = String(repeating: "z", count: count)
        }
        #expect(try size() == before && harness.app.settings.writeCount == writes)
        harness.app.flush()
        #expect(try size() > before && harness.app.settings.writeCount == writes + 1)
        let after = try size()
        harness.app.flush()
        #expect(try size() == after && harness.app.settings.writeCount == writes + 1)
        #expect(harness.store.conversation(transcript.id)?.settings.instructions.count == 200)
      }
    }
  }

  @Test func the_model_sheet_plans_for_its_choices_and_loads_with_them() async throws {
    try await withFolder { folder in
      try await withApp(in: folder) { harness in
        await harness.app.start()
        let sheet = ModelSheetModel(LibraryModel.embeddedName, app: harness.app)
        #expect(await eventually { sheet.estimate?.totalBytes == 1100 })
        #expect(!sheet.canLoad)
        sheet.settings.contextLength = 7
        #expect(await eventually { sheet.failure?.cause == "7 tokens are no context" })
        #expect(!sheet.canLoad)
        sheet.settings.contextLength = 2048
        sheet.settings.weights = .fourBit
        sheet.settings.device = .metal
        sheet.settings.compactCache = true
        sheet.settings.parallelAnswers = 2
        #expect(await eventually { sheet.canLoad && sheet.estimate?.totalBytes == 700 })
        await sheet.load()
        #expect(harness.loader.loads.withLock { $0.last } == sheet.settings)
        let options = sheet.settings.applied(to: EngineOptions())
        #expect(options.quantize == .fourBit && options.device == .metal && options.maximumModelLength == 2048)
        #expect(options.kvDType == .int8 && options.maximumSequences == 2)
      }
      try await withApp(in: folder) { harness in
        #expect(ModelSheetModel(LibraryModel.embeddedName, app: harness.app).settings.weights == .fourBit)
        await harness.app.start()
        #expect(harness.loader.loads.withLock { $0.last }?.device == .metal)
      }
    }
  }

  @Test func reading_back_is_not_disturbed_by_an_answer_that_grows() {
    let follower = ScrollFollower()
    follower.endAppeared()
    for _ in 0..<3 {  // the answer grows: its end is out of view until the view has scrolled
      #expect(follower.contentGrew())
      follower.endDisappeared()
      #expect(follower.isFollowing)
      follower.endAppeared()
    }
    follower.endDisappeared()  // nothing grew: the user scrolled
    #expect(!follower.isFollowing && !follower.contentGrew() && !follower.contentGrew())
    follower.endAppeared()
    #expect(follower.isFollowing && follower.contentGrew())
    follower.endAppeared()
    follower.endDisappeared()
    follower.follow()
    #expect(follower.contentGrew())
  }
}
