// Features of the app besides chatting: attachments, sharing, questions from outside, search, model folders, shortcuts.
import Foundation
import PagodaKit
import Testing

@testable import PagodaChatCore

@MainActor @Suite struct FeatureTests {
  private func withApp(
    _ loader: ScriptedLoader = ScriptedLoader(), _ downloader: ScriptedDownloader = ScriptedDownloader(),
    _ body: (AppModel, URL) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      try await body(try AppModel(folder: folder, loader: loader, downloader: downloader), folder)
    }
  }

  // MARK: Attachments

  @Test func attached_files_go_before_the_question_and_stay_with_it() async throws {
    let loader = ScriptedLoader()
    try await withApp(loader) { app, folder in
      await app.start()
      app.newChat()
      let transcript = try #require(app.conversations.transcript)
      let notes = folder.appending(path: "notes.md")
      try Data("a ``` fence".utf8).write(to: notes)
      #expect(transcript.composer.attach([notes]) && transcript.composer.failure == nil)
      transcript.composer.text = "What is this?"
      transcript.composer.send(in: transcript)
      let expected = "notes.md:\n````\na ``` fence\n````\n\nWhat is this?"
      #expect(loader.engine.lastMessages.map(\.content) == [expected])
      #expect(transcript.messages.first?.text == "What is this?" && transcript.composer.attachments.isEmpty)
      loader.engine.say("Notes.")
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.conversation.title == "What is this?")
      #expect(transcript.shareText.contains(expected) && transcript.shareText.contains("Notes."))

      let reopened = TranscriptModel(
        transcript.conversation, store: app.conversations.pool.store, engines: app.engines)
      #expect(reopened.messages.first?.attachments?.map(\.name) == ["notes.md"])

      let first = try #require(transcript.messages.first)
      transcript.composer.text = "draft"
      transcript.composer.edit(first)
      #expect(transcript.composer.attachments.count == 1)
      transcript.composer.detach(transcript.composer.attachments[0].id)
      transcript.composer.text = "And now?"
      transcript.composer.send(in: transcript)
      #expect(loader.engine.lastMessages.map(\.content) == ["And now?"])
      #expect(transcript.composer.text == "draft")
    }
  }

  @Test func files_without_text_are_refused_by_name_and_others_are_attached() async throws {
    try await withFolder { folder in
      let composer = ComposerModel()
      let picture = folder.appending(path: "picture.png")
      let large = folder.appending(path: "large.txt")
      let good = folder.appending(path: "good.txt")
      try Data([0xff, 0xfe, 0, 1]).write(to: picture)
      try Data(repeating: 97, count: Attachment.maximumBytes + 1).write(to: large)
      try Data("fine".utf8).write(to: good)
      #expect(composer.attach([picture, good]))
      #expect(composer.attachments.map(\.name) == ["good.txt"])
      #expect(composer.failure?.title.contains("picture.png") == true)
      #expect(!composer.attach([large]) && composer.failure?.cause.contains("1048576") == true)
      #expect(!composer.attach([folder, folder.appending(path: "none")]) && composer.failure != nil)
      #expect(composer.attach([good]) && composer.failure == nil)
    }
  }

  // MARK: Questions from outside

  @Test func a_question_from_outside_is_answered_and_kept_as_a_chat() async throws {
    let loader = ScriptedLoader()
    try await withApp(loader) { app, _ in
      let answer = Task { try await app.ask("  What is the capital of France? ") }
      #expect(await eventually { loader.engine.state.withLock { $0.requests.count } == 1 })
      #expect(loader.engine.lastMessages.map(\.content) == ["What is the capital of France?"])
      loader.engine.say("Paris.\n")
      let text = try await answer.value
      #expect(text == "Paris.")
      #expect(app.conversations.hits.map(\.conversation.title) == ["What is the capital of France?"])
      await #expect(throws: ChatFailure.self) { try await app.ask("  ") }
    }
  }

  @Test func a_question_from_outside_says_why_there_is_no_answer_and_can_be_cancelled() async throws {
    try await withApp(ScriptedLoader(error: .badFile("no weights"))) { app, _ in
      let failure = await #expect(throws: ChatFailure.self) { try await app.ask("Hello") }
      #expect(failure?.cause.contains("no weights") == true)
    }
    let loader = ScriptedLoader()
    try await withApp(loader) { app, _ in
      let answer = Task { try await app.ask("Hello") }
      #expect(await eventually { loader.engine.state.withLock { $0.requests.count } == 1 })
      answer.cancel()
      await #expect(throws: CancellationError.self) { try await answer.value }
      #expect(loader.engine.state.withLock { $0.cancelled } == 1)
    }
  }

  // MARK: Library

  @Test func a_search_shows_the_results_of_the_latest_words() async throws {
    let downloader = ScriptedDownloader()
    downloader.state.withLock { $0.found = ["qwen": [FoundModel(id: "Qwen/Qwen3.5-0.8B", downloads: 7)]] }
    try await withApp(ScriptedLoader(), downloader) { app, _ in
      app.library.search("something slow")
      app.library.search(" qwen ")
      #expect(app.library.isSearching)
      #expect(await eventually { !app.library.isSearching })
      #expect(app.library.found.map(\.id) == ["Qwen/Qwen3.5-0.8B"] && app.library.failure == nil)
      await downloader.slow.open()  // the first search ends last
      #expect(await eventually { downloader.state.withLock { $0.searches } == 1 })
      for _ in 0..<10 { await Task.yield() }
      #expect(app.library.found.map(\.id) == ["Qwen/Qwen3.5-0.8B"])
      app.library.search("")
      #expect(app.library.found.isEmpty)
      app.library.search("fails")
      #expect(await eventually { app.library.failure != nil })
      #expect(app.library.found.isEmpty)
      app.library.search("")
      #expect(!app.library.isSearching && app.library.found.isEmpty)
    }
  }

  @Test func one_of_several_ggufs_is_chosen_and_downloaded() async throws {
    let downloader = ScriptedDownloader()
    let choices = [ModelChoice(id: "x-Q4_K_M*", sizeBytes: 5), ModelChoice(id: "x-Q8_0.gguf", sizeBytes: 9)]
    downloader.state.withLock { $0.choices = ["some/x-GGUF": choices] }
    try await withApp(ScriptedLoader(), downloader) { app, _ in
      await app.library.fetch(named: "some/x-GGUF")
      #expect(app.library.question?.choices == choices && app.library.entries.count == 1)
      app.library.answer(nil)
      #expect(app.library.question == nil && app.library.entries.count == 1)
      await app.library.fetch(named: "some/x-GGUF")
      app.library.answer(choices[1])
      #expect(app.library.entries.map(\.id).contains("some/x-GGUF/x-Q8_0.gguf"))
      #expect(await eventually { downloader.state.withLock { $0.downloads } == ["some/x-GGUF x-Q8_0.gguf"] })
      await app.library.fetch(named: "some/plain")
      #expect(await eventually { downloader.state.withLock { $0.downloads.last } == "some/plain" })
    }
  }

  // MARK: Model folder

  private struct FakeAccess: FolderAccess {
    var isStale = false
    var word = "new"  // the start of its bookmarks
    var error: StoreError?
    func bookmark(of folder: URL) throws -> Data { Data("\(word) \(folder.path)".utf8) }
    func open(_ bookmark: Data) throws -> (folder: URL, isStale: Bool) {
      if let error { throw error }
      let path = String(decoding: bookmark, as: UTF8.self).drop { $0 != " " }.dropFirst()
      return (URL(filePath: String(path)), isStale)
    }
  }

  @Test func a_chosen_model_folder_is_opened_by_its_bookmark_at_the_next_start() async throws {
    try await withFolder { folder in
      let models = folder.appending(path: "models")
      let model = models.appending(path: "org/one")
      try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
      try Data("{}".utf8).write(to: model.appending(path: "config.json"))
      do {  // each block is a run of the app: only one at a time has the store open
        let app = try AppModel(folder: folder, loader: ScriptedLoader(), access: FakeAccess())
        await app.useModelFolder(models)
        #expect(app.library.entries.map(\.id) == [LibraryModel.embeddedName, "org/one"])
      }
      do {
        let app = try AppModel(
          folder: folder, loader: ScriptedLoader(), access: FakeAccess(isStale: true, word: "renewed"))
        await app.library.refresh()
        #expect(app.library.entries.map(\.id) == [LibraryModel.embeddedName, "org/one"] && app.library.failure == nil)
        #expect(app.settings.settings.modelFolderBookmark == Data("renewed \(models.path)".utf8))
      }
      let app = try AppModel(
        folder: folder, loader: ScriptedLoader(), downloader: ScriptedDownloader(),
        access: FakeAccess(error: StoreError("the disk is not there")))
      #expect(app.library.failure?.cause.contains("the disk is not there") == true)
      #expect(app.library.failure?.advice?.contains(models.path) == true)
      #expect(app.settings.settings.modelFolder == models.path)  // not forgotten
      await app.useModelFolder(nil)
      #expect(app.settings.settings.modelFolder == nil && app.settings.settings.modelFolderBookmark == nil)
    }
  }

  @Test func the_open_chat_is_open_again_after_a_restart() async throws {
    try await withFolder { folder in
      var ids: [UUID] = []
      do {
        let app = try AppModel(folder: folder, loader: ScriptedLoader(), downloader: ScriptedDownloader())
        await app.start()
        for text in ["one", "two", "three"] {
          app.newChat()
          let transcript = try #require(app.conversations.transcript)
          transcript.send(text)
          transcript.stop()
          #expect(await eventually { !transcript.isAnswering })
          ids.append(transcript.id)
        }
        app.conversations.selection = ids[1]
        app.flush()
      }
      let next = try AppModel(folder: folder, loader: ScriptedLoader(), downloader: ScriptedDownloader())
      #expect(next.claimWindow().selection == ids[1])
    }
  }

  // MARK: Keyboard and speech

  @Test func shortcuts_are_unique_and_none_is_the_systems() {
    let keys = KeyboardMap.all.map(\.keys)
    #expect(Set(keys).count == keys.count)
    let systems = "⌘Q ⌘W ⌘H ⌘M ⌘, ⌘C ⌘V ⌘X ⌘A ⌘Z ⇧⌘Z ⌘P ⌘S ⌘O ⌥⌘H ⌘`".split(separator: " ").map { String($0) }
    #expect(Set(keys).isDisjoint(with: systems))
    #expect(KeyboardMap.undoDelete.keys == "⌥⌘Z" && KeyboardMap.send.keys == "⌘⏎")
    #expect(KeyboardMap.stopWriting.keys == "⎋")
  }

  @Test func labels_for_voiceover_do_not_repeat_the_text() {
    var message = ChatMessage(conversationID: UUID(), parentID: nil, role: .user, text: "Tell me a story")
    #expect(message.spokenLabel == "Your message")
    message.attachments = [Attachment(name: "a.txt", text: "x")]
    #expect(message.spokenLabel == "Your message with 1 file")
    message.role = .assistant
    message.attachments = nil
    message.modelName = "pagoda-mini"
    #expect(message.spokenLabel == "Answer of pagoda-mini" && !message.spokenLabel.contains(message.text))
    let entry = LibraryEntry(id: "org/one", source: nil, sizeBytes: 5, state: .ready)
    #expect(!entry.spokenLabel.contains("org/one") && entry.spokenLabel == "Model, ready")
  }

  // MARK: Code

  @Test func code_is_split_into_words_of_a_kind() {
    func marked(_ text: String, _ language: String?) -> [String] {
      let spans = CodeHighlighter.spans(of: text, language: language)
      #expect(spans.map(\.text).joined() == text)
      return spans.filter { $0.kind != .plain }.map { "\($0.kind) \($0.text)" }
    }
    #expect(
      marked("let x = 0x1F // let\nprint(\"a \\\" let\")", "swift")
        == ["keyword let", "number 0x1F", "comment // let", "string \"a \\\" let\""])
    #expect(
      marked("def f():  # if\n  '''if\n  x'''\n  return 'it", "Python")
        == ["keyword def", "comment # if", "string '''if\n  x'''", "keyword return", "string 'it"])
    #expect(marked("/* a\n b */ int y; // é", "c++") == ["comment /* a\n b */", "keyword int", "comment // é"])
    #expect(marked("fn f<'a>(x: &'a str) {}", "rust") == ["keyword fn"])
    #expect(marked(#"{"a": [1.5, true]}"#, "json") == [#"string "a""#, "number 1.5", "keyword true"])
    #expect(marked("let x = 1", nil).isEmpty && marked("let x = 1", "brainfuck").isEmpty)
    #expect(marked("/* open", "c") == ["comment /* open"] && marked("x = \"\\", "c") == ["string \"\\"])
    #expect(marked("letter outlet let", "swift") == ["keyword let"])
  }
}
