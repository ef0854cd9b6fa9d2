// Conversion of a ModelSource to the core's type.
internal import CxxCore

extension ModelSource {
  /// The model on this machine, downloaded if necessary.
  func here(_ progress: (@Sendable (LoadProgress) -> Void)? = nil) async throws -> ModelSource {
    guard case .fetched(let model) = self else { return self }
    return .folder(path: try await model.fetch { progress?(LoadProgress(phase: .fetching, fraction: $0)) })
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
