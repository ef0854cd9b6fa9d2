// Conversion of a ModelSource to the core's type.
internal import CxxCore
internal import Foundation

extension ModelSource {
  /// The model on this machine, downloaded if necessary.
  func here(_ progress: (@Sendable (LoadProgress) -> Void)? = nil) async throws -> ModelSource {
    guard case .fetched(let model) = self else { return self }
    do {
      return .folder(path: try await model.fetch { progress?(LoadProgress(phase: .fetching, fraction: $0)) })
    } catch {
      throw model.failure(error)
    }
  }

  /// The model on this machine; throws if it would have to be downloaded.
  func present() throws -> ModelSource {
    guard case .fetched(let model) = self else { return self }
    guard let path = try model.presentPath() else {
      throw PagodaError.notFound("\(model.name) is not on this machine; fetch it first")
    }
    return .folder(path: path)
  }

  var core: pagoda.ModelSource {
    var source = pagoda.ModelSource()
    switch self {
    case .folder(let path):
      source.directory = std.string(path)
    case .shape(let name):
      source.shape = std.string(name)
    case .fetched:
      break  // here() is called first; the core reports that there is no model
    case .embedded(let model):
      for embedded in model.files {
        var file = pagoda.ModelFile()
        file.name = std.string(embedded.name)
        file.data = embedded.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        file.size_bytes = UInt64(embedded.bytes.count)
        source.files.push_back(file)
      }
    }
    return source
  }
}

extension FetchedModel {
  /// The path of the model on this machine; nil if it would have to be downloaded.
  func presentPath() throws -> String? {
    do { return try location() } catch { throw failure(error) }
  }

  /// Every failure of a download has one type; a cancelled one keeps its own.
  func failure(_ error: any Error) -> any Error {
    if error is CancellationError || error is PagodaError { return error }
    let text = (error as? any LocalizedError)?.errorDescription ?? String(describing: error)
    return PagodaError.fetchFailed(text.contains(name) ? text : "\(name): \(text)")
  }
}
