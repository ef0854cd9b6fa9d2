// The first launch: models that suit the machine, their download, the hub's token, and what a search says.
import Foundation
import PagodaHub
import PagodaKit
import Testing

@testable import PagodaChatCore

/// Secrets in memory.
final class ScriptedSecrets: SecretStore {
  let values = Locked<[String: String]>([:])

  func value(of name: String) -> String? { values.withLock { $0[name] } }
  func set(_ value: String?, of name: String) throws { values.withLock { $0[name] = value } }
}

/// Memory of a machine with `limit` bytes, with the real sizes of models' weights.
struct SizedLoader: ModelLoader {
  var limit: Int64

  func load(
    _ source: ModelSource, _ settings: LoadSettings, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> any ChatEngine { ScriptedEngine() }

  func estimate(_ source: ModelSource, _ settings: LoadSettings) async throws -> MemoryEstimate {
    let info = try await Engine.inspect(source, options: settings.applied(to: EngineOptions(device: .cpu)))
    let weights = info.plan.weightsBytes  // caches of this machine's size would make the test depend on it
    var estimate = MemoryEstimate(weightsBytes: weights, workingBytes: weights / 4 + (512 << 20), limitBytes: limit)
    estimate.bytesPerToken = info.bytesPerToken
    return estimate
  }
}

@MainActor @Suite struct FirstLaunchTests {
  @Test(arguments: [
    (4, "Apple M1", "Qwen3.5 2B"), (24, "Apple M4 Pro", "Qwen3.5 9B"), (24, "Apple A17 Pro", "Qwen3.5 4B"),
    (96, "Apple M2 Ultra", "Qwen3.5 27B"), (96, "Apple M4", "Qwen3.5 35B-A3B"), (96, "Some Chip", "Qwen3.5 27B"),
  ])
  func a_model_suits_memory_and_chip(_ gigabytes: Int64, _ chip: String, _ title: String) async throws {
    try await withFolder { folder in
      let app = try AppModel(
        folder: folder, loader: SizedLoader(limit: gigabytes << 30), downloader: ScriptedDownloader())
      let welcome = WelcomeModel(app: app, chip: Chip(name: chip))
      await welcome.prepare()
      #expect(welcome.offers.map(\.title).contains(title) && welcome.offers.count >= 3)
      #expect(welcome.offers.filter(\.isRecommended).map(\.title) == [title], "\(welcome.offers.map(\.note))")
      #expect(Set(welcome.offers.map(\.id)).count == welcome.offers.count)
      #expect(welcome.offers.allSatisfy { $0.downloadBytes > 100 << 20 && !$0.note.isEmpty })
    }
  }

  @Test func the_embedded_model_answers_while_the_chosen_one_is_downloaded() async throws {
    try await withFolder { folder in
      let (loader, hub) = (ScriptedLoader(), ScriptedDownloader())
      let app = try AppModel(folder: folder, loader: loader, downloader: hub)
      await app.start()
      let welcome = WelcomeModel(app: app, chip: Chip(name: "Apple M4"))
      #expect(welcome.isNeeded && app.engines.modelName == LibraryModel.embeddedName)
      let choosing = Task { await welcome.choose("org/model") }
      #expect(await eventually { hub.state.withLock { $0.last } != nil })
      #expect(!welcome.isNeeded && welcome.chosen == "org/model")
      #expect(app.library.downloadText == "Downloading org/model")
      hub.last.yield(DownloadProgress(receivedBytes: 3, totalBytes: 6))
      #expect(await eventually { welcome.progress?.fraction == 0.5 })
      #expect(app.library.downloadText == "Downloading org/model: 50 %")
      app.newChat()
      let transcript = try #require(app.conversations.transcript)
      transcript.send("Hello")
      loader.engine.say("Hi from the embedded model.")
      #expect(await eventually { !transcript.isAnswering })
      hub.state.withLock {
        $0.installed = [InstalledModel(id: "org/model", folder: folder, sizeBytes: 6)]
      }
      hub.last.finish()
      await choosing.value
      #expect(app.engines.state == .ready(name: "org/model") && welcome.chosen == nil)
      #expect(app.library.downloadText == nil)
      #expect(app.settings.settings.modelName == "org/model")
    }
  }

  @Test func a_download_that_fails_leaves_the_embedded_model() async throws {
    try await withFolder { folder in
      let hub = ScriptedDownloader()
      let app = try AppModel(folder: folder, loader: ScriptedLoader(), downloader: hub)
      await app.start()
      let welcome = WelcomeModel(app: app)
      let choosing = Task { await welcome.choose("org/model") }
      #expect(await eventually { hub.state.withLock { $0.last } != nil })
      hub.last.finish(throwing: PagodaError.notFound("no network"))
      await choosing.value
      #expect(app.engines.modelName == LibraryModel.embeddedName)
      #expect(app.library.downloadText == "The download of org/model failed")
    }
  }

  @Test func the_token_is_kept_apart_from_the_settings() async throws {
    try await withFolder { folder in
      let secrets = ScriptedSecrets()
      let app = try AppModel(
        folder: folder, loader: ScriptedLoader(), downloader: ScriptedDownloader(), secrets: secrets)
      await app.setHubToken(" hf_secret \n")
      #expect(app.hubToken == "hf_secret" && app.library.failure == nil)
      app.settings.settings.idleMinutes = 5
      app.close()
      for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("hf_secret"), "\(file)")
      }
      await app.setHubToken("two words")
      #expect(app.hubToken == "hf_secret" && app.library.failure != nil)
      await app.setHubToken("")
      #expect(app.hubToken == nil)
      #expect(HubModels(token: "hf_own").settings.token == "hf_own")
    }
  }

  @Test func search_results_say_format_size_and_fit() async throws {
    try await withFolder { folder in
      let hub = ScriptedDownloader()
      hub.state.withLock {
        $0.found["qwen"] = [
          FoundModel(id: "a/small", format: "MLX, quantised", sizeBytes: 700),
          FoundModel(id: "a/large", format: "safetensors BF16", sizeBytes: 900), FoundModel(id: "a/unknown"),
        ]
      }
      let app = try AppModel(folder: folder, loader: ScriptedLoader(), downloader: hub)  // with 1000 bytes of memory
      await app.start()
      app.library.search("qwen")
      #expect(await eventually { app.library.found.count == 3 })
      #expect(app.library.found.map(\.fits) == [true, false, nil])
      #expect(app.library.found[0].details == "MLX, quantised, 0.0 GB, fits")
      #expect(app.library.found[2].details.isEmpty)
    }
  }
}
