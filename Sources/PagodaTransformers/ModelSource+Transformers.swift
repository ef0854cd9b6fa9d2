// ModelSource.transformersHub: models by hub id through the Hub client of swift-transformers, with the trait
// Transformers.
#if Transformers
internal import Foundation
public import PagodaKit

extension ModelSource {
  /// A model of the Hugging Face hub, such as `Qwen/Qwen3.5-0.8B`, which swift-transformers downloads into its own
  /// model folder, shared with other programs that use it. `ModelSource.hub` of PagodaHub uses the cache of
  /// `huggingface_hub` instead.
  public static func transformersHub(_ id: String, revision: String = "main") -> ModelSource {
    .fetched(
      FetchedModel(name: "\(id)@\(revision)") { progress in
        let folder = try await HubSnapshot.fetch(
          id, revision: revision, matching: ["*.json", "*.jinja", "*.safetensors"], progress: progress)
        try HubSnapshot.checkModel(folder, id)
        return folder.path
      })
  }
}
#endif
