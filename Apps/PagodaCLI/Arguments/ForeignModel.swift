// ForeignModel: models downloaded by Ollama and LM Studio, found in the folders of those programs, which are never
// modified. Models downloaded by mlx-lm are already in the hub's cache.
import Foundation
import PagodaKit

/// A model of another program on this machine.
struct ForeignModel: Hashable {
  var name: String  // ollama:qwen3:4b, lmstudio:org/name
  var path: String
  var bytes: Int64

  /// All models found, sorted by name.
  static func all(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> [ForeignModel] {
    let home = environment["HOME"] ?? NSHomeDirectory()
    let ollama =
      environment["OLLAMA_MODELS"].map { NSString(string: $0).expandingTildeInPath } ?? home + "/.ollama/models"
    let studio = [home + "/.lmstudio/models", home + "/.cache/lm-studio/models"]
    return (ollamaModels(in: ollama) + studio.flatMap { studioModels(in: $0) }).sorted { $0.name < $1.name }
  }

  /// manifests/HOST/library/NAME/TAG name the blob that is the GGUF file.
  private static func ollamaModels(in folder: String) -> [ForeignModel] {
    let manifests = folder + "/manifests"
    let paths = FileManager.default.enumerator(atPath: manifests)?.compactMap { $0 as? String } ?? []
    return paths.sorted().prefix(1000).compactMap { path in
      let parts = path.split(separator: "/").map(String.init)
      guard parts.count == 4, let data = FileManager.default.contents(atPath: "\(manifests)/\(path)"),
        let layers = JSONValue.parse(String(decoding: data, as: UTF8.self))?["layers"]?.arrayValue,
        let layer = layers.first(where: { $0["mediaType"]?.stringValue?.hasSuffix("image.model") == true }),
        let digest = layer["digest"]?.stringValue, digest.hasPrefix("sha256:"), !digest.contains("/")
      else { return nil }
      let blob = "\(folder)/blobs/\(digest.replacing(":", with: "-"))"
      guard let bytes = size(blob) else { return nil }
      let owner = parts[1] == "library" ? "" : parts[1] + "/"
      return ForeignModel(name: "ollama:\(owner)\(parts[2]):\(parts[3])", path: blob, bytes: bytes)
    }
  }

  /// ORG/NAME with one GGUF file each, or a folder of safetensors.
  private static func studioModels(in folder: String) -> [ForeignModel] {
    func names(_ path: String) -> [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { !$0.hasPrefix(".") }.sorted()
    }
    return names(folder).flatMap { owner in
      names("\(folder)/\(owner)").flatMap { model -> [ForeignModel] in
        let path = "\(folder)/\(owner)/\(model)"
        let files = names(path)
        if files.contains("config.json") {
          let bytes = files.reduce(Int64(0)) { $0 + (size("\(path)/\($1)") ?? 0) }
          return [ForeignModel(name: "lmstudio:\(owner)/\(model)", path: path, bytes: bytes)]
        }
        let weights = files.filter { $0.hasSuffix(".gguf") && !$0.contains("mmproj") }
        return weights.map { file in
          let name = weights.count == 1 ? model : "\(model)/\(file)"
          return ForeignModel(
            name: "lmstudio:\(owner)/\(name)", path: "\(path)/\(file)", bytes: size("\(path)/\(file)") ?? 0)
        }
      }
    }
  }

  /// A path that the engine can open. Ollama's blobs have no file extension, so they get a link in this program's
  /// cache.
  func location() throws -> String {
    guard name.hasPrefix("ollama:"), !path.hasSuffix(".gguf") else { return path }
    let environment = ProcessInfo.processInfo.environment
    let caches = environment["XDG_CACHE_HOME"].flatMap { $0.isEmpty ? nil : $0 }
    let folder = (caches ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.cache") + "/pagoda/ollama"
    let link = "\(folder)/\(URL(filePath: path).lastPathComponent).gguf"
    if (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == path { return link }
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      unlink(link)
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    } catch {
      throw CommandFailure("\(link): cannot be created: \(error.localizedDescription)")
    }
    return link
  }

  private static func size(_ path: String) -> Int64? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int64
  }
}
