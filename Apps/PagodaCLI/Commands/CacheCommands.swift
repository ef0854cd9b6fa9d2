// pagoda list and pagoda rm: the models on this machine.
import Foundation
import PagodaHub
import PagodaKit

extension Command {
  static let list = Command(
    name: "list",
    summary: "Lists the models on this machine: mini, running, downloaded, and those of other programs.",
    operands: "",
    notes: """
      Includes models downloaded by pagoda pull, huggingface_hub or mlx-lm, which share one cache. Models of Ollama and LM
      Studio are listed under names that --model accepts; their files are never modified.
      """,
    groups: [OptionGroup("Options", [Option("json", help: "print a JSON array")])],
    run: runList)

  static let remove = Command(
    name: "rm",
    summary: "Removes a downloaded model.",
    operands: "ORG/NAME[@REVISION]",
    notes: "With a revision, only that revision is removed, and the files that no other revision uses.",
    groups: [],
    run: runRemove)
}

private func runList(_ arguments: Arguments) async throws -> Int32 {
  try arguments.refusePositionals()
  let cache = HubCache(folder: HubSettings.current.cacheFolder)
  let models = cache.models()
  if arguments.has("json") {
    let foreign = ForeignModel.all().map {
      JSONValue.object(["model": .string($0.name), "bytes": .integer($0.bytes), "folder": .string($0.path)])
    }
    let mini = JSONValue.object([
      "model": .string("mini"), "bytes": .integer(MiniModelSize.bytes), "is_embedded": .bool(true),
    ])
    Terminal.write(JSONValue.array([mini] + models.map(json) + foreign).text + "\n")
  } else {
    let running = ServerRecord.running()
    var table = [("mini", "the \(megabytes(MiniModelSize.bytes)) demo inside the program")]
    table += running.map { ($0.model, "running at \($0.url) (process \($0.process))") }
    table += models.flatMap(rows)
    table += ForeignModel.all().map { ($0.name, readable(bytes: $0.bytes)) }
    Terminal.write(columns(table, width: Style.width(of: STDOUT_FILENO)))
    if models.isEmpty { Terminal.say("No models in \(cache.folder) yet; pagoda pull qwen3.5:4b downloads one.") }
  }
  return 0
}

private func rows(_ model: CachedModel) -> [(String, String)] {
  let revisions = model.revisions.map { revision -> (String, String) in
    let names = revision.names.isEmpty ? "" : " (\(revision.names.joined(separator: ", ")))"
    let state = revision.isComplete ? "" : ", not complete"
    let size = "\(readable(bytes: revision.bytes)) in \(revision.fileCount) files"
    return (model.repository, "\(revision.commit.prefix(12))\(names)  \(size)\(state)")
  }
  return revisions.isEmpty ? [(model.repository, "not complete, \(readable(bytes: model.bytes)) so far")] : revisions
}

private func json(_ model: CachedModel) -> JSONValue {
  .object([
    "model": .string(model.repository), "bytes": .integer(model.bytes),
    "revisions": .array(
      model.revisions.map { revision in
        .object([
          "commit": .string(revision.commit), "names": .array(revision.names.map { .string($0) }),
          "folder": .string(revision.folder), "bytes": .integer(revision.bytes),
          "num_files": .integer(Int64(revision.fileCount)), "is_complete": .bool(revision.isComplete),
        ])
      }),
  ])
}

private func runRemove(_ arguments: Arguments) async throws -> Int32 {
  let model = try hubModel(arguments)
  let isOneRevision = arguments.positionals[0].contains("@")
  let freed = try HubCache(folder: HubSettings.current.cacheFolder).remove(model, onlyRevision: isOneRevision)
  Terminal.say(
    "\(isOneRevision ? arguments.positionals[0] : model.repository): removed, \(readable(bytes: freed)) freed")
  return 0
}
