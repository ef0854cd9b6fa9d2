// A ModelSource as the core takes it.
internal import CxxCore
internal import MiniModel

extension ModelSource {
  var core: pagoda.ModelSource {
    var source = pagoda.ModelSource()
    switch self {
    case .folder(let path):
      source.directory = std.string(path)
    case .shape(let name):
      source.shape = std.string(name)
    case .mini:
      for index in 0..<pagoda_mini_file_count() {
        let embedded = pagoda_mini_file(index)
        var file = pagoda.ModelFile()
        file.name = std.string(String(cString: embedded.name))
        file.data = embedded.data
        file.size_bytes = UInt64(embedded.size)
        source.files.push_back(file)
      }
    }
    return source
  }
}
