// ModelSource.hub: models of a Hugging Face hub by name, fetched when they are first needed.
public import PagodaKit

extension ModelSource {
  /// A model of a Hugging Face hub, such as `Qwen/Qwen3.5-0.8B` or `Qwen/Qwen3.5-0.8B@main`. It is loaded from the
  /// cache shared with other programs, or else downloaded and verified by its hashes.
  ///
  /// ```swift
  /// let model = ModelContainer(.hub("Qwen/Qwen3.5-0.8B"))
  /// let engine = try await model.engine { print($0.phase, $0.fraction) }
  /// ```
  public static func hub(_ name: String, settings: HubSettings = HubSettings()) -> ModelSource {
    .fetched(
      FetchedModel(name: name) { progress in
        guard let model = ModelName(name) else {
          throw HubError.invalidName("'\(name)' is no name of a model: Organisation/Model")
        }
        let cache = HubCache(folder: settings.cacheFolder)
        if let path = try? cache.location(of: model) { return path }
        _ = try await ModelPull(settings).pull(model) { progress($0.fraction) }
        return try cache.location(of: model)
      })
  }
}
