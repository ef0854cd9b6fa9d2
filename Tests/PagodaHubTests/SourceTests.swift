// Models of a hub as a source: one error type for clients, and no download without a request for one.
import Foundation
import PagodaHub
import PagodaKit
import Testing

@Suite struct SourceTests {
  /// A hub on a port where nothing listens, and an empty cache.
  private func unreachable() -> HubSettings {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pagoda-\(UUID().uuidString)")
    var settings = HubSettings(cacheFolder: folder.path)
    settings.endpoint = "http://127.0.0.1:1"
    settings.maximumAttempts = 1
    return settings
  }

  @Test func an_unreachable_hub_is_a_failed_download() async throws {
    let model = ModelContainer(.hub("org/model", settings: unreachable()))
    for work in [{ try await model.fetch() }, { _ = try await model.engine() }] {
      let error = await #expect(throws: PagodaError.self) { try await work() }
      guard case .fetchFailed(let reason)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(reason.contains("127.0.0.1") && error?.localizedDescription == reason)
    }
  }

  @Test func availability_downloads_nothing() async throws {
    let settings = unreachable()
    #expect(await ModelContainer(.hub("org/model", settings: settings)).availability() == .notDownloaded(bytes: nil))
    #expect(!FileManager.default.fileExists(atPath: settings.cacheFolder))
    guard case .unavailable(let error) = await ModelContainer(.hub("no name", settings: settings)).availability() else {
      Issue.record("a name that is none is available")
      return
    }
    #expect(error.code == "invalid_argument")
  }

  @Test func errors_of_the_hub_have_a_text() {
    let error: any Error = HubError.disk("the disk is full")
    #expect(error.localizedDescription == "the disk is full")
  }
}
