// HubLibrary: the models of the hub's cache, for administrators of a server.
import PagodaHub
import PagodaServer

struct HubLibrary: ModelLibrary {
  func pull(_ name: String, progress: @escaping @Sendable (Int64, Int64) -> Void) async throws {
    let model = try model(name)
    do {
      _ = try await ModelPull(.current).pull(model) { progress($0.bytesDone, $0.bytesTotal) }
    } catch let error as HubError {
      throw Self.error(error)
    }
  }

  func delete(_ name: String) throws {
    let model = try model(name)
    do {
      _ = try HubCache(folder: HubSettings.current.cacheFolder).remove(model, onlyRevision: name.contains("@"))
    } catch let error as HubError {
      throw Self.error(error)
    }
  }

  private func model(_ name: String) throws -> ModelName {
    let full: String
    do { full = try fullModelName(name) } catch let error as UsageError {
      throw LibraryError(error.message, isMissing: true)
    }
    guard let model = ModelName(full) else {
      throw LibraryError(
        "'\(name)' is not a model of the hub; they are named ORG/NAME, or qwen3.5:4b and the like", isMissing: true)
    }
    return model
  }

  private static func error(_ error: HubError) -> LibraryError {
    if case .notFound(let message) = error { return LibraryError(message, isMissing: true) }
    return LibraryError(error.message)
  }
}
