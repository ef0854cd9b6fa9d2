// The rest of the app's logic: sidebar, library, settings, server, and everything together with the embedded model.
import Foundation
import PagodaHub
import PagodaKit
import PagodaMini
import Testing

@testable import PagodaChatCore

@MainActor @Suite struct AppModelTests {
  @Test func the_embedded_model_answers_in_the_whole_app() async throws {
    try await withFolder { folder in
      let app = try AppModel(folder: folder, downloader: FolderModels(folder: folder))
      await app.start()
      #expect(app.engines.state == .ready(name: LibraryModel.embeddedName))
      #expect(app.library.entries.first?.estimate?.fits == true)
      app.newChat()
      let transcript = try #require(app.conversations.transcript)
      transcript.send("What is the capital of France?")
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.messages.last?.text.contains("Paris") == true, "\(transcript.messages)")
      #expect(transcript.stats.promptTokens > 0)
      app.conversations.refresh()
      #expect(app.conversations.hits.map(\.conversation.title) == ["What is the capital of France?"])

      #expect(!app.outlivesWindows)
      app.server.turnOn(port: 0)
      let url = try #require(app.server.url, "\(String(describing: app.server.failure))")
      #expect(url.hasPrefix("http://127.0.0.1:"))
      app.server.turnOn(port: 0)  // another window's switch: the same server
      #expect(app.server.url == url)
      app.settings.settings.idleMinutes = 1
      await app.tick(now: .now + .seconds(3600))
      #expect(app.outlivesWindows && app.engines.engine != nil)  // without a window, and idle
      await app.server.turnOff()
      #expect(!app.server.isOn && !app.outlivesWindows)

      app.settings.settings.idleMinutes = 600  // longer than a busy machine takes between two lines
      await app.tick()
      #expect(app.engines.engine != nil)
      await app.tick(now: .now + .seconds(3600 + 600 * 60 + 1))
      #expect(app.engines.state == .unloaded && app.engines.engine == nil)
      app.server.turnOn(port: 0)
      #expect(!app.server.isOn && app.server.failure?.cause == "No model is loaded.")
    }
  }

  @Test func a_model_that_does_not_load_says_why() async throws {
    let engines = EngineModel(loader: ScriptedLoader(error: .outOfMemory("12 GB do not fit into 8 GB")))
    await engines.load(.mini, named: "big")
    guard case .failed(let failure) = engines.state else {
      Issue.record("\(engines.state)")
      return
    }
    #expect(failure.cause == "12 GB do not fit into 8 GB" && failure.advice?.contains("smaller") == true)
    #expect(failure.errorDescription == "big cannot be loaded: 12 GB do not fit into 8 GB")
  }

  @Test func loading_another_model_lets_the_first_one_go() async throws {
    let loader = ScriptedLoader()
    let engines = EngineModel(loader: loader)
    await engines.load(.mini, named: "first")
    await engines.load(.mini, named: "second")
    #expect(loader.engine.state.withLock { $0.isShutDown })
    #expect(engines.state == .ready(name: "second") && engines.device == "scripted device")
    await engines.unload()
    #expect(engines.device == nil)
  }

  @Test func the_sidebar_searches_renames_pins_and_removes() async throws {
    try await withFolder { folder in
      let store = try ConversationStore(folder: folder)
      let list = ConversationListModel(store: store, engines: EngineModel(loader: ScriptedLoader()))
      var ids: [UUID] = []
      for name in ["one", "two", "three"] {
        ids.append(try #require(list.begin()).id)
        list.transcript?.send("chat \(name)")  // rejected without a model, but the message is kept
        list.refresh()
      }
      #expect(list.begin()?.id == list.begin()?.id)  // an empty chat is reused
      list.remove(try #require(list.selection))
      #expect(list.hits.map(\.id) == ids.reversed())
      list.togglePin(ids[0])
      #expect(list.hits.first?.id == ids[0])
      list.rename(ids[1], to: "Zwei")
      list.query = "zwei"
      #expect(list.hits.map(\.id) == [ids[1]])
      list.query = ""
      list.selection = ids[2]
      list.remove(ids[2])
      #expect(list.hits.count == 2 && list.selection == ids[0])
    }
  }

  @Test func a_removed_chat_does_not_come_back_with_its_last_words() async throws {
    try await withFolder { folder in
      let store = try ConversationStore(folder: folder)
      let loader = ScriptedLoader()
      let engines = EngineModel(loader: loader)
      await engines.load(.mini, named: "scripted")
      let list = ConversationListModel(store: store, engines: engines)
      let transcript = try #require(list.begin())
      transcript.send("Hello")
      list.remove(transcript.id)
      #expect(await eventually { !transcript.isAnswering })
      #expect(store.conversations.isEmpty && store.messages(of: transcript.id).count == 0)
      #expect(loader.engine.state.withLock { $0.cancelled } == 1)
    }
  }

  @Test func the_library_follows_a_download_through_pause_failure_and_end() async throws {
    let source = ScriptedDownloader()
    let library = LibraryModel(downloader: source, engines: EngineModel(loader: ScriptedLoader()))
    func state(_ id: String) -> LibraryEntry.State? { library.entries.first { $0.id == id }?.state }
    library.download("org/model")
    #expect(await eventually { source.state.withLock { $0.last != nil } })
    source.last.yield(DownloadProgress(receivedBytes: 25, totalBytes: 100))
    #expect(await eventually { state("org/model") == .downloading(.init(receivedBytes: 25, totalBytes: 100)) })
    library.pause("org/model")
    #expect(await eventually { state("org/model") == .paused(.init(receivedBytes: 25, totalBytes: 100)) })

    source.state.withLock { $0.last = nil }
    library.download("org/model")
    #expect(await eventually { source.state.withLock { $0.last != nil } })
    source.last.finish(throwing: PagodaError.inputOutput("the connection was lost"))
    #expect(
      await eventually {
        if case .failed(let failure) = state("org/model") { failure.cause == "the connection was lost" } else { false }
      })

    source.state.withLock { $0.last = nil }
    library.download("org/model")
    #expect(await eventually { source.state.withLock { $0.last != nil } })
    let model = InstalledModel(id: "org/model", folder: URL(filePath: "models/model"), sizeBytes: 100)
    source.state.withLock { $0.installed = [model] }
    source.last.finish()
    #expect(await eventually { state("org/model") == .ready })
    #expect(await eventually { library.entries.last?.estimate != nil })
    #expect(library.entries.last?.estimate?.fits == false)
    library.askToRemove("org/model")
    #expect(library.removalCandidate == "org/model")
    await library.answerRemoval(false)
    #expect(library.removalCandidate == nil && library.entries.count == 2)
    library.askToRemove(LibraryModel.embeddedName)
    #expect(library.removalCandidate == nil)  // it is part of the program
    library.askToRemove("org/model")
    await library.answerRemoval(true)
    #expect(library.entries.map(\.id) == [LibraryModel.embeddedName])
  }

  @Test func a_rate_is_that_of_the_last_five_seconds() {
    var meter = RateMeter()
    let start = ContinuousClock.now
    meter.note(0, at: start)
    #expect(meter.bytesPerSecond == nil)
    meter.note(1000, at: start + .seconds(1))
    #expect(meter.bytesPerSecond == 1000)
    meter.note(1000, at: start + .seconds(7))
    meter.note(3000, at: start + .seconds(8))
    #expect(meter.bytesPerSecond == 2000)
  }

  @Test func local_folders_are_a_library() async throws {
    try await withFolder { folder in
      let model = folder.appending(path: "org/model")
      try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
      try FileManager.default.createDirectory(at: folder.appending(path: "empty"), withIntermediateDirectories: true)
      try Data("{}".utf8).write(to: model.appending(path: "config.json"))
      let models = FolderModels(folder: folder)
      #expect(try await models.installed().map(\.id) == ["org/model"])
      #expect(try await models.installed().first?.sizeBytes == 2)
      try await models.remove("org/model")
      #expect(try await models.installed().isEmpty)
    }
  }

  @Test func the_cache_of_a_hub_is_a_library() async throws {
    try await withFolder { folder in
      let model = folder.appending(path: "models--org--model")
      let commit = String(repeating: "a1", count: 20)
      let snapshot = model.appending(path: "snapshots/\(commit)")
      for path in [snapshot, model.appending(path: "refs")] {
        try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
      }
      try Data("{}".utf8).write(to: snapshot.appending(path: "config.json"))
      var hub = HubModels(settings: HubSettings(cacheFolder: folder.path))
      #expect(try await hub.installed().isEmpty)  // no ref to the commit yet
      try Data(commit.utf8).write(to: model.appending(path: "refs/main"))
      let installed = try await hub.installed()
      #expect(installed.map(\.id) == ["org/model"] && installed.first?.folder.lastPathComponent == commit)

      hub.settings.isOffline = true
      let library = LibraryModel(downloader: hub, engines: EngineModel(loader: ScriptedLoader()))
      for (name, words) in [("org/other", "HF_HUB_OFFLINE"), ("no name", "is no name of a model")] {
        library.download(name)
        #expect(
          await eventually {
            guard case .failed(let failure) = library.entries.first(where: { $0.id == name })?.state else {
              return false
            }
            return failure.cause.contains(words)
          }, "\(library.entries)")
      }
      try await hub.remove("org/model")
      #expect(try await hub.installed().isEmpty)
    }
  }

  @Test func settings_are_kept_and_damaged_ones_are_put_aside() async throws {
    try await withFolder { folder in
      let model = SettingsModel(folder: folder)
      model.settings.serverPort = 9090
      model.settings.newChats.instructions = "Be brief."
      model.flush()
      #expect(SettingsModel(folder: folder).settings == model.settings)
      let file = folder.appending(path: "settings.json")
      try Data(#"{"idleMinutes": 5}"#.utf8).write(to: file)
      #expect(SettingsModel(folder: folder).settings.idleMinutes == 5)
      try Data("{".utf8).write(to: file)
      let reset = SettingsModel(folder: folder)
      #expect(reset.settings == AppSettings() && reset.failure?.cause.contains("damaged") == true)
      #expect(FileManager.default.fileExists(atPath: file.appendingPathExtension("bad").path))
    }
  }
}
