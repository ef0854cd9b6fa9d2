// Resolves a model name from the command line: the embedded model, a folder or file, a model in the hub's cache, or one
// of another program.
import Foundation
import PagodaHub
import PagodaKit
import PagodaMini

extension HubSettings {
  /// The settings from the environment, with this program's name as user agent.
  static var current: HubSettings {
    var settings = HubSettings()
    settings.userAgent = "pagoda/\(PagodaVersion.current)"
    return settings
  }
}

/// Existing files take precedence, so that `org/name` can name a folder; `./` or `/` always means a path.
func namedModel(_ given: String) throws -> ModelSource {
  if given == "mini" { return .mini }
  let path = NSString(string: given).expandingTildeInPath
  if FileManager.default.fileExists(atPath: path) || ["/", "."].contains(path.prefix(1)) { return .folder(path: path) }
  if let foreign = ForeignModel.all().first(where: { $0.name == given }) {
    return .folder(path: try foreign.location())
  }
  let name = try fullModelName(given)
  guard let model = ModelName(name) else { throw CommandFailure(unknownModel(given)) }
  return .folder(path: try HubCache(folder: HubSettings.current.cacheFolder).location(of: model))
}

/// What the user can do about a name that is neither a path nor a hub's.
private func unknownModel(_ given: String) -> String {
  let near = suggestion(for: given.lowercased(), among: Completer.knownModels())
  let remedy =
    near.map { "did you mean \($0)?" }
    ?? "`pagoda list` shows the models that are here, `pagoda pull ORG/NAME` fetches others"
  return "there is no model, folder or file '\(given)'; \(remedy)"
}

/// The operand of a command that works on one model of a hub.
func hubModel(_ arguments: Arguments) throws -> ModelName {
  guard arguments.positionals.count == 1 else {
    throw UsageError("name one model, as ORG/NAME, ORG/NAME@revision or a short name such as qwen3.5:4b")
  }
  if arguments.positionals[0] == "mini" {
    throw UsageError("mini is inside the program; models to download or remove are named ORG/NAME")
  }
  guard let model = ModelName(try fullModelName(arguments.positionals[0])) else {
    throw UsageError(
      "'\(arguments.positionals[0])' is not a model of a hub; they are named ORG/NAME or ORG/NAME@revision")
  }
  return model
}

extension Arguments {
  /// For commands with an operand MODEL, which is equivalent to --model.
  mutating func takeModelOperand() throws {
    guard let name = positionals.first else { return }
    if positionals.count > 1 { throw UsageError("name one model; `pagoda run MODEL PROMPT` answers one prompt") }
    if has("model") || has("shape") { throw UsageError("name one model") }
    positionals = []
    values["model"] = [name]
  }

  /// Shows what a download needs and asks whether to start it.
  /// - Returns: the format of the weights that the user agreed to, if only a smaller one than the given one fits.
  private func ask(_ room: PullRoom, _ model: ModelName) async throws -> String? {
    let plan = await downloadPlan(room, of: model)
    Terminal.remark("\(model) is not on this machine.\n\(plan?.text ?? "")")
    if let plan, !plan.fitsOnDisk { return nil }  // the download fails with an error that says where
    let (question, byDefault) = plan?.question ?? ("Fetch it (\(readable(bytes: room.missingBytes)))?", true)
    if !Terminal.confirm(question, byDefault: byDefault) { throw CommandFailure("\(model) was not fetched") }
    return plan?.smallerForm
  }

  /// Downloads a model that is not on this machine from the hub, if the user at the terminal agrees.
  /// - Parameter options: get the format of the weights that the user agreed to, if the given one does not fit.
  func offerToFetch(for options: inout EngineOptions) async throws {
    guard !has("shape"), let given = string("model"), Terminal.inputIsTerminal, Terminal.errorIsTerminal else { return }
    do {
      _ = try namedModel(given)
    } catch HubError.notFound(let reason) {
      guard let model = ModelName(try fullModelName(given)), !HubSettings.current.isOffline else {
        throw HubError.notFound(reason)
      }
      var pull = ModelPull(.current)
      pull.listingAttempts = 1
      let agreed = AgreedForm()
      do {
        _ = try await fetch(model, with: pull) { room in agreed.name = try await ask(room, model) }
        if let form = agreed.name.flatMap({ EngineOptions.Quantization(rawValue: $0) }) { options.quantize = form }
      } catch HubError.network(let reason) {
        throw HubError.network(
          "\(reason)\n\(model) is not on this machine; `pagoda list` shows the models that are, and `pagoda chat` needs none."
        )
      }
    }
  }
}

/// What the user has agreed to before a download. Written before the download begins, read after it has ended.
private final class AgreedForm: @unchecked Sendable {
  var name: String?
}
