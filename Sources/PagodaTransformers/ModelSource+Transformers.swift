// ModelSource.transformersHub: models by hub id through the Hub client of swift-transformers, with the trait
// Transformers.
#if Transformers
internal import Hub
public import PagodaKit

extension ModelSource {
  /// A model of the Hugging Face hub, such as `Qwen/Qwen3.5-0.8B`, which swift-transformers downloads into its own
  /// model folder, shared with other programs that use it. `ModelSource.hub` of PagodaHub uses the cache of
  /// `huggingface_hub` instead.
  public static func transformersHub(_ id: String, revision: String = "main") -> ModelSource {
    .fetched(
      FetchedModel(name: "\(id)@\(revision)") { progress in
        do {
          let folder = try await HubApi.shared.snapshot(
            from: id, revision: revision, matching: ["*.json", "*.jinja", "*.safetensors"]
          ) { progress($0.fractionCompleted) }
          return folder.path
        } catch let error as CancellationError {
          throw error
        } catch {
          throw PagodaError.notFound("\(id): swift-transformers cannot fetch it: \(error.localizedDescription)")
        }
      })
  }
}
#endif
