// ModelSource.hub: models of a Hugging Face hub by name, fetched when they are first needed.
public import PagodaKit

extension ModelSource {
  /// A model of a Hugging Face hub, such as `Qwen/Qwen3.5-0.8B` or `Qwen/Qwen3.5-0.8B@main`. It is loaded from the
  /// cache shared with other programs, or else downloaded and verified by its hashes. Only loading and fetching
  /// download; `availability()` reports `.notDownloaded` with the size that the hub announces.
  ///
  /// ```swift
  /// let model = ModelContainer(.hub("Qwen/Qwen3.5-0.8B"))
  /// let engine = try await model.engine { print($0.phase, $0.fraction) }
  /// ```
  public static func hub(_ name: String, settings: HubSettings = HubSettings()) -> ModelSource {
    let cache = HubCache(folder: settings.cacheFolder)
    @Sendable func model() throws -> ModelName {
      if let model = ModelName(name) { return model }
      throw PagodaError.invalidArgument("'\(name)' is no name of a model: Organisation/Model")
    }
    return .fetched(
      FetchedModel(
        name: name,
        location: {
          let model = try model()
          return try? cache.location(of: model)
        },
        size: {
          if settings.isOffline { return nil }
          let model = try model()
          let files = try FileSelection().choose(from: await HubAPI(settings).listing(of: model), of: model)
          return files.reduce(0) { $0 + $1.size }
        },
        fetch: { progress in
          let model = try model()
          if let path = try? cache.location(of: model) { return path }
          _ = try await ModelPull(settings).pull(model) { progress($0.fraction) }
          return try cache.location(of: model)
        }))
  }
}
