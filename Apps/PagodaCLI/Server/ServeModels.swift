// The models of pagoda serve: their names, aliases, and loading several.
import Foundation
import PagodaKit
import PagodaServer

/// One of several models, and its name in requests.
struct NamedModel {
  var name: String
  var location: String
}

extension Arguments {
  /// The models given with `--model`, with their names; a single one stays among the arguments for later use.
  mutating func takeNamedModels() throws -> [NamedModel] {
    let models = try (values["model"] ?? []).map { text -> NamedModel in
      // A path may contain `=`; an existing path is taken literally.
      if let mark = text.firstIndex(of: "="), !FileManager.default.fileExists(atPath: text) {
        let (name, location) = (String(text[..<mark]), String(text[text.index(after: mark)...]))
        if name.isEmpty || location.isEmpty { throw UsageError("--model is '\(text)'; it must be MODEL or NAME=MODEL") }
        return NamedModel(name: name, location: location)
      }
      var one = self
      one.values["model"] = [text]
      return NamedModel(name: one.modelFileName == "mini" ? "pagoda-mini" : one.modelFileName, location: text)
    }
    if models.count > 1 {
      for option in ["served-model-name", "pipeline", "pipeline-stages", "shape", "prefix-peers"] where has(option) {
        throw UsageError("--\(option) is for one model, and --model is given \(models.count) times")
      }
    } else if let model = models.first, values["model"] != [model.location] {
      values["model"] = [model.location]
      values["served-model-name"] = [model.name] + (values["served-model-name"] ?? [])
    }
    return models
  }
}

/// Names and aliases; each alias must refer to a given model.
func readModelNames(
  _ arguments: Arguments, _ models: [NamedModel], into options: inout ServerOptions
) throws {
  if models.count > 1 { options.modelNames = models.map(\.name) }
  options.aliases = try (arguments.values["alias"] ?? []).map { text in
    guard let mark = text.lastIndex(of: "="), mark != text.startIndex else {
      throw UsageError("--alias is '\(text)'; it must be PATTERN=NAME")
    }
    let name = String(text[text.index(after: mark)...])
    guard options.modelNames.contains(name) else {
      throw UsageError("--alias is for '\(name)'; the models are \(options.modelNames.joined(separator: ", "))")
    }
    return ModelAlias(String(text[..<mark]), model: name)
  }
  if models.count < 2 {
    for option in ["models-memory", "unload-after"] where arguments.has(option) {
      throw UsageError("--\(option) is for several models, and there is one")
    }
  }
}

func serve(
  _ models: [NamedModel], _ arguments: Arguments, _ options: EngineOptions, _ receipts: ReceiptFile?, _ server: Server
) async throws {
  let served = try models.map {
    ServedModel(name: $0.name, source: try namedModel($0.location), options: options, path: $0.location)
  }
  do {
    try await server.serve(
      served, memoryBytes: try arguments.bytes("models-memory"),
      unloadAfterSeconds: try arguments.integer("unload-after", in: 1...31_536_000).map(Double.init)
    ) { try await receipts?.keep(of: $0) }
  } catch let error as ServerError {
    throw CommandFailure(error.message)
  }
}
