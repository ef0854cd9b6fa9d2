// ModelDownloader: the model library's interface to a source of models.
import Foundation

/// A model folder on this machine.
public struct InstalledModel: Hashable, Sendable, Identifiable {
  /// Its name at the source, such as `Qwen/Qwen3.5-0.8B`.
  public var id: String
  /// Its folder.
  public var folder: URL
  /// Its size on disk in bytes.
  public var sizeBytes: Int64

  /// A model folder.
  public init(id: String, folder: URL, sizeBytes: Int64) {
    self.id = id
    self.folder = folder
    self.sizeBytes = sizeBytes
  }
}

/// Progress of a download.
public struct DownloadProgress: Hashable, Sendable {
  /// Bytes received, including earlier attempts.
  public var receivedBytes: Int64
  /// Total bytes; nil until known.
  public var totalBytes: Int64?

  /// Progress of a download.
  public init(receivedBytes: Int64, totalBytes: Int64? = nil) {
    self.receivedBytes = receivedBytes
    self.totalBytes = totalBytes
  }

  /// The completed fraction, from 0 to 1; nil until the total is known.
  public var fraction: Double? {
    totalBytes.flatMap { $0 > 0 ? min(1, Double(receivedBytes) / Double($0)) : nil }
  }
}

/// A source of models, and the folder they are stored in.
public protocol ModelDownloader: Sendable {
  /// The complete models on this machine.
  func installed() async throws -> [InstalledModel]
  /// Downloads a model, resuming an earlier attempt. Dropping the stream pauses it.
  func download(_ id: String) -> AsyncThrowingStream<DownloadProgress, any Error>
  /// Deletes a model or a partial download.
  func remove(_ id: String) async throws
  /// Models whose names contain the words.
  func search(_ words: String) async throws -> [FoundModel]
  /// The models to choose from in a repository that has several; empty if there is no choice.
  func choices(of id: String) async throws -> [ModelChoice]
  /// Downloads one of several models of a repository.
  func download(_ id: String, only choice: ModelChoice) -> AsyncThrowingStream<DownloadProgress, any Error>
}

/// A folder whose subfolders are models, without network access.
public struct FolderModels: ModelDownloader {
  /// The folder.
  public var folder: URL

  /// The models in a folder.
  public init(folder: URL) { self.folder = folder }

  /// Subfolders, and subfolders of those, that have a `config.json`.
  public func installed() async throws -> [InstalledModel] {
    var found: [InstalledModel] = []
    for child in subfolders(of: folder) {
      for candidate in [child] + subfolders(of: child) where isModel(candidate) {
        let id = candidate.path.dropFirst(folder.path.count).drop { $0 == "/" }
        found.append(InstalledModel(id: String(id), folder: candidate, sizeBytes: size(of: candidate)))
      }
    }
    return found.sorted { $0.id < $1.id }
  }

  /// Always fails: a folder has nothing to download.
  public func download(_ id: String) -> AsyncThrowingStream<DownloadProgress, any Error> {
    AsyncThrowingStream { $0.finish(throwing: StoreError("\(id) cannot be fetched: this library is a local folder")) }
  }

  /// Deletes the model's folder.
  public func remove(_ id: String) async throws {
    guard let model = try await installed().first(where: { $0.id == id }) else { return }
    try FileManager.default.removeItem(at: model.folder)
  }

  private func subfolders(of folder: URL) -> [URL] {
    let children = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: [.isDirectoryKey], options: .skipsHiddenFiles)
    return (children ?? []).filter(\.hasDirectoryPath)
  }

  private func isModel(_ folder: URL) -> Bool {
    FileManager.default.fileExists(atPath: folder.appending(path: "config.json").path)
  }

  private func size(of folder: URL) -> Int64 {
    let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return (files ?? []).reduce(0) { sum, file in
      let attributes = try? FileManager.default.attributesOfItem(atPath: file.resolvingSymlinksInPath().path)
      return sum + ((attributes?[.size] as? NSNumber)?.int64Value ?? 0)
    }
  }
}
