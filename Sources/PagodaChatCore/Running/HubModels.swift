// HubModels: the app's model library on a Hugging Face hub, with the cache shared by other programs.
import Foundation
import PagodaHub

/// The models of a hub and of its local cache.
public struct HubModels: ModelDownloader {
  /// Which hub, cache and token to use.
  public var settings: HubSettings

  /// The hub named by the environment, or huggingface.co.
  public init(settings: HubSettings = HubSettings()) { self.settings = settings }

  /// The same with a token of the app's own, if it has one.
  init(token: String?) {
    settings = HubSettings()
    settings.token = token ?? settings.token
  }

  /// The models whose default revision is complete; each GGUF of a repository with several.
  public func installed() async throws -> [InstalledModel] {
    let cache = HubCache(folder: settings.cacheFolder)
    return cache.models().flatMap { model -> [InstalledModel] in
      guard let name = ModelName(model.repository) else { return [] }
      if let path = try? cache.location(of: name) {
        return [InstalledModel(id: model.repository, folder: URL(filePath: path), sizeBytes: model.bytes)]
      }
      return cache.ggufModels(of: name).map { path in
        let url = URL(filePath: path)
        let size = (try? FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path))?[.size]
        return InstalledModel(
          id: "\(model.repository)/\(url.lastPathComponent)", folder: url,
          sizeBytes: (size as? NSNumber)?.int64Value ?? 0)
      }
    }
  }

  /// Downloads the missing files of a model; files are verified against the hub's hashes.
  public func download(_ id: String) -> AsyncThrowingStream<DownloadProgress, any Error> {
    download(id, FileSelection())
  }

  /// Downloads one of several GGUF models of a repository.
  public func download(_ id: String, only choice: ModelChoice) -> AsyncThrowingStream<DownloadProgress, any Error> {
    var selection = FileSelection()
    selection.include = [choice.id]
    return download(id, selection)
  }

  private func download(
    _ id: String, _ selection: FileSelection
  ) -> AsyncThrowingStream<DownloadProgress, any Error> {
    AsyncThrowingStream { continuation in
      guard let name = ModelName(id) else {
        return continuation.finish(throwing: HubError.invalidName("'\(id)' is no name of a model: Organisation/Model"))
      }
      let task = Task { [settings] in
        do {
          var pull = ModelPull(settings)
          pull.selection = selection
          _ = try await pull.pull(name) {
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

  /// Removes a model from the cache; of `ORG/NAME/FILE` only that file.
  public func remove(_ id: String) async throws {
    let cache = HubCache(folder: settings.cacheFolder)
    if let name = ModelName(id) {
      _ = try cache.remove(name, onlyRevision: false)
    } else if let slash = id.lastIndex(of: "/"), let name = ModelName(String(id[..<slash])) {
      _ = try cache.removeGGUF(String(id[id.index(after: slash)...]), of: name)
    }
  }
}
