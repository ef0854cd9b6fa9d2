// HubModels: the models of a Hugging Face hub as the library of the app, in the cache that other programs share.
import Foundation
import PagodaHub

/// The models of a hub and of its cache on this machine.
public struct HubModels: ModelDownloader {
  /// Which hub, which cache and which token.
  public var settings: HubSettings

  /// The hub that the environment names, huggingface.co without one.
  public init(settings: HubSettings = HubSettings()) { self.settings = settings }

  /// The models of which the default revision is whole.
  public func installed() async throws -> [InstalledModel] {
    let cache = HubCache(folder: settings.cacheFolder)
    return cache.models().compactMap { model in
      guard let name = ModelName(model.repository), let path = try? cache.location(of: name) else { return nil }
      return InstalledModel(id: model.repository, folder: URL(filePath: path), sizeBytes: model.bytes)
    }
  }

  /// Fetches what is missing of a model; files are checked against the hub's hashes.
  public func download(_ id: String) -> AsyncThrowingStream<DownloadProgress, any Error> {
    AsyncThrowingStream { continuation in
      guard let name = ModelName(id) else {
        return continuation.finish(throwing: HubError.invalidName("'\(id)' is no name of a model: Organisation/Model"))
      }
      let task = Task { [settings] in
        do {
          _ = try await ModelPull(settings).pull(name) {
            continuation.yield(DownloadProgress(receivedBytes: $0.bytesDone, totalBytes: $0.bytesTotal))
          }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { if case .cancelled = $0 { task.cancel() } }
    }
  }

  /// Removes a model from the cache.
  public func remove(_ id: String) async throws {
    guard let name = ModelName(id) else { return }
    _ = try HubCache(folder: settings.cacheFolder).remove(name, onlyRevision: false)
  }
}
