// pagoda pull: downloads a model from a hub.
import Foundation
import PagodaHub
import PagodaKit

extension Command {
  static let pull = Command(
    name: "pull",
    summary: "Downloads a model from Hugging Face, or resumes an interrupted download.",
    operands: "MODEL",
    notes: """
      MODEL is ORG/NAME, ORG/NAME@REVISION or a short name such as qwen3.5:4b.
      Files go to the cache that huggingface_hub uses (HF_HUB_CACHE, or hub in HF_HOME, or ~/.cache/huggingface/hub);
      each is checked against the hub's hash. Afterwards every command accepts --model ORG/NAME.
      Without --include it downloads the safetensors with their configuration and tokenizer, or the only GGUF file.
      The token is HF_TOKEN, or the one stored by `hf auth login`. HF_ENDPOINT is another hub's address, HF_HUB_OFFLINE=1
      disables network access, HF_HUB_DOWNLOAD_TIMEOUT is the number of seconds without data before a retry (10).
      """,
    groups: [
      OptionGroup(
        "Options",
        [
          Option(
            "include", short: "i", value: "PATTERN", help: "download matching files, such as '*Q4_K_M.gguf'; repeatable"
          ),
          Option("exclude", short: "x", value: "PATTERN", help: "skip matching files; repeatable"),
          Option("jobs", short: "j", value: "N", help: "files to download in parallel (default 4)"),
          Option("retries", value: "N", help: "attempts without progress before giving up (default 5)"),
          Option("verify", help: "hash files that are already present, and download damaged ones again"),
          Option("json", help: "print a JSON object with the folder, the commit and the size"),
        ])
    ],
    run: runPull)
}

private func runPull(_ arguments: Arguments) async throws -> Int32 {
  let model = try hubModel(arguments)
  var pull = ModelPull(.current)
  pull.selection.include = arguments.values["include"] ?? []
  pull.selection.exclude = arguments.values["exclude"] ?? []
  pull.verifies = arguments.has("verify")
  if let count = try arguments.integer("jobs", in: 1...32) { pull.parallelFiles = Int(count) }
  if let count = try arguments.integer("retries", in: 1...1000) { pull.settings.maximumAttempts = Int(count) }

  let pulled = try await fetch(model, with: pull) { room in
    guard room.missingBytes > 0, let plan = await arguments.downloadPlan(room, of: model) else { return }
    let isDoubtful = (plan.fitting == nil && !plan.forms.isEmpty) || !plan.fitsOnDisk
    if Terminal.errorIsTerminal || isDoubtful { Terminal.remark(plan.text) }
  }
  if arguments.has("json") {
    let object = JSONValue.object([
      "model": .string(pulled.name.repository), "revision": .string(pulled.name.revision),
      "commit": .string(pulled.commit), "folder": .string(pulled.folder),
      "num_files": .integer(Int64(pulled.fileCount)),
      "bytes": .integer(pulled.bytes),
    ])
    Terminal.write(object.text + "\n")
  } else {
    Terminal.say(
      "\(model): \(pulled.fileCount) files, \(readable(bytes: pulled.bytes)), commit \(pulled.commit.prefix(12))\n"
        + "\(pulled.folder)\nNext: pagoda chat \(model)")
  }
  return 0
}

/// Downloads a model and shows progress from the first moment on.
/// - Parameter before: called with the size of the download before it starts; an error ends it.
func fetch(
  _ model: ModelName, with pull: ModelPull, before: @escaping @Sendable (PullRoom) async throws -> Void
) async throws -> PulledModel {
  let line = ProgressLine("\(model)", unknown: true)
  defer { line.clear() }
  var pull = pull
  let host = URL(string: pull.settings.endpoint)?.host ?? pull.settings.endpoint
  if !pull.settings.isOffline { line.note("asking \(host)") }
  pull.settings.onRetry = { line.note($0) }
  pull.beforeDownload = { room in
    line.clear()
    try await before(room)
  }
  return try await pull.pull(model) { line.show($0.fraction, after: describe($0)) }
}

/// Bytes, speed and time left, for the end of the progress line.
func describe(_ progress: PullProgress) -> String {
  let bytes = "\(readable(bytes: progress.bytesDone)) of \(readable(bytes: progress.bytesTotal))"
  if let note = progress.note { return "\(bytes), \(note)" }
  guard progress.bytesPerSecond > 0, let left = progress.secondsLeft else { return bytes }
  return "\(bytes), \(readable(bytes: Int64(progress.bytesPerSecond)))/s, \(readable(seconds: left)) left"
}

/// Formats 75 seconds as `1:15`.
package func readable(seconds: Double) -> String {
  let whole = Int(min(max(seconds, 0), 359_999).rounded(.up))
  return whole >= 3600
    ? String(format: "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60)
    : String(format: "%d:%02d", whole / 60, whole % 60)
}
