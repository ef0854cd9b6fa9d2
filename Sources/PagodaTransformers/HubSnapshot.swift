// Downloads through the Hub client of swift-transformers, with the trait Transformers: errors, cancellation, and a check
// of the result.
#if Transformers
import Foundation
internal import Hub
import PagodaKit

enum HubSnapshot {
  /// Downloads the matching files of a repository and returns their folder.
  static func fetch(
    _ id: String, revision: String, matching globs: [String],
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws -> URL {
    do {
      let folder = try await HubApi.shared.snapshot(from: id, revision: revision, matching: globs) {
        progress($0.fractionCompleted)
      }
      try Task.checkCancellation()  // a cancelled snapshot returns a folder with part of the files
      return folder
    } catch {
      if error is CancellationError || Task.isCancelled { throw CancellationError() }
      throw PagodaError.fetchFailed("\(id): swift-transformers cannot fetch it: \(error.localizedDescription)")
    }
  }

  /// Throws unless the folder has a configuration and all of its weights.
  static func checkModel(_ folder: URL, _ id: String) throws {
    let names = Set((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
    func fail(_ missing: String) -> PagodaError {
      .fetchFailed("\(id): the download is not complete: \(missing) is missing in \(folder.path)")
    }
    if !names.contains("config.json") { throw fail("config.json") }
    struct Index: Decodable {
      enum CodingKeys: String, CodingKey { case files = "weight_map" }
      var files: [String: String]  // shards by tensor
    }
    let index = folder.appending(path: "model.safetensors.index.json")
    if let data = try? Data(contentsOf: index), let map = try? JSONDecoder().decode(Index.self, from: data) {
      if let shard = Set(map.files.values).subtracting(names).min() { throw fail(shard) }
    } else if !names.contains(where: { $0.hasSuffix(".safetensors") }) {
      throw fail("a safetensors file")
    }
  }
}
#endif
