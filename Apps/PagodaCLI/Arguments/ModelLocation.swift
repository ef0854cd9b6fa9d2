// Which model a name on the command line means: the embedded one, a folder or file, or one of the hub's cache.
import Foundation
import PagodaHub
import PagodaKit

extension HubSettings {
  /// The environment's, under this program's name.
  static var current: HubSettings {
    var settings = HubSettings()
    settings.userAgent = "pagoda/\(PagodaVersion.current)"
    return settings
  }
}

/// What is there as a file comes first, so that a folder `org/name` can be meant; `./` or `/` always means a path.
func namedModel(_ name: String) throws -> ModelSource {
  if name == "mini" { return .mini }
  let path = NSString(string: name).expandingTildeInPath
  if FileManager.default.fileExists(atPath: path) || ["/", "."].contains(path.prefix(1)) { return .folder(path: path) }
  guard let model = ModelName(name) else { return .folder(path: path) }
  return .folder(path: try HubCache(folder: HubSettings.current.cacheFolder).location(of: model))
}

/// The operand of a command that works on one model of a hub.
func hubModel(_ arguments: Arguments) throws -> ModelName {
  guard arguments.positionals.count == 1 else { throw UsageError("name one model, as ORG/NAME or ORG/NAME@revision") }
  guard let model = ModelName(arguments.positionals[0]) else {
    throw UsageError(
      "'\(arguments.positionals[0])' is not a model of a hub; they are named ORG/NAME or ORG/NAME@revision")
  }
  return model
}
