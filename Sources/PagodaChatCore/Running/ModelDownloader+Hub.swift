// Optional features of a source of models: a search, and a choice among the files of a repository.
import PagodaHub

/// A model that a search found.
public struct FoundModel: Hashable, Sendable, Identifiable {
  /// Its name at the source, such as `Qwen/Qwen3.5-0.8B`.
  public var id: String
  /// Downloads of the last month.
  public var downloads: Int
  /// Why it cannot be downloaded or loaded; nil if no reason is known.
  public var obstacle: String?
  /// The format of its weights, such as `safetensors BF16`; nil if the source does not say.
  public var format: String?
  /// The size of its weights in bytes; nil if the source does not say.
  public var sizeBytes: Int64?
  /// Whether its weights and a quarter more fit in memory; nil if its size or the memory is unknown.
  public var fits: Bool?

  /// A model that a search found.
  public init(
    id: String, downloads: Int = 0, obstacle: String? = nil, format: String? = nil, sizeBytes: Int64? = nil
  ) {
    self.id = id
    self.downloads = downloads
    self.obstacle = obstacle
    self.format = format
    self.sizeBytes = sizeBytes
  }

  /// The same, compared with a machine's memory.
  func fitting(_ memoryLimit: Int64?) -> FoundModel {
    var model = self
    if let sizeBytes, let memoryLimit { model.fits = sizeBytes + sizeBytes / 4 <= memoryLimit }
    return model
  }

  /// Format, size and fit, in words; empty if nothing is known.
  public var details: String {
    let size = sizeBytes.map { localized("\((Double($0) / 1e9 * 10).rounded() / 10) GB") }
    return [format, size, fits.map { $0 ? localized("fits") : localized("does not fit as it is") }].compactMap { $0 }
      .joined(separator: ", ")
  }
}

/// One of several models in a repository, of which one is sufficient: the same weights in another format.
public struct ModelChoice: Hashable, Sendable, Identifiable {
  /// The name of its file, or a pattern for its parts.
  public var id: String
  /// Its size in bytes.
  public var sizeBytes: Int64

  /// One of several models in a repository.
  public init(id: String, sizeBytes: Int64) {
    self.id = id
    self.sizeBytes = sizeBytes
  }

  /// `ORG/NAME/FILE`: its name in the library.
  func name(in repository: String) -> String {
    let file = id.hasSuffix("*") ? String(id.dropLast()) : id
    return "\(repository)/\(file)"
  }
}

extension ModelDownloader {
  /// Returns nothing, for a source that does not support search.
  public func search(_ words: String) async throws -> [FoundModel] { [] }
  /// Returns nothing, for a source without choices.
  public func choices(of id: String) async throws -> [ModelChoice] { [] }
  /// Downloads the whole model, for a source without choices.
  public func download(_ id: String, only choice: ModelChoice) -> AsyncThrowingStream<DownloadProgress, any Error> {
    download(id)
  }
}

extension HubModels {
  /// Models of the hub whose names contain the words, those with most downloads first.
  public func search(_ words: String) async throws -> [FoundModel] {
    if settings.isOffline { throw HubError.network("HF_HUB_OFFLINE is set, so nothing is searched") }
    return try await HubAPI(settings).search(words).map { hit in
      FoundModel(
        id: hit.id, downloads: hit.downloads,
        obstacle: !hit.hasWeights
          ? localized("has no safetensors and no GGUF")
          : hit.isGated ? localized("access must be requested on the hub") : nil,
        format: hit.format, sizeBytes: hit.weightBytes)
    }
  }

  /// The GGUF files of a repository with several.
  public func choices(of id: String) async throws -> [ModelChoice] {
    guard let name = ModelName(id), !settings.isOffline else { return [] }
    return try await HubAPI(settings).listing(of: name).ggufChoices.map {
      ModelChoice(id: $0.pattern, sizeBytes: $0.sizeBytes)
    }
  }
}
