// HubModels: the app's model library on a Hugging Face hub, with the cache shared by other programs.
import Foundation
import PagodaHub

/// The models of a hub and of its local cache.
public struct HubModels: ModelDownloader {
  /// Which hub, cache and token to use.
  public var settings: HubSettings

  /// The hub named by the environment, or huggingface.co.
  public init(settings: HubSettings = HubSettings()) { self.settings = settings }

  /// The models whose default revision is complete.
  public func installed() async throws -> [InstalledModel] {
    let cache = HubCache(folder: settings.cacheFolder)
    return cache.models().compactMap { model in
      guard let name = ModelName(model.repository), let path = try? cache.location(of: name) else { return nil }
      return InstalledModel(id: model.repository, folder: URL(filePath: path), sizeBytes: model.bytes)
    }
  }

  /// Downloads the missing files of a model; files are verified against the hub's hashes.
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
