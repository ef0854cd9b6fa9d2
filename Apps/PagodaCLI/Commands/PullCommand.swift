// pagoda pull: fetches a model from a hub.
import Foundation
import PagodaHub
import PagodaKit

extension Command {
  static let pull = Command(
    name: "pull",
    summary: "Fetches a model from Hugging Face, or continues where it stopped.",
    operands: "MODEL",
    notes: """
      MODEL is ORG/NAME, ORG/NAME@REVISION or a short name such as qwen3.5:4b.
      Files go to the cache that huggingface_hub uses (HF_HUB_CACHE, or hub in HF_HOME, or ~/.cache/huggingface/hub);
      each is checked against the hash that the hub gives. Afterwards --model ORG/NAME means it everywhere.
      Without --include it takes the safetensors with their configuration and tokenizer, or the only GGUF.
      The token is HF_TOKEN, or the one that `hf auth login` left. HF_ENDPOINT is another hub's address, HF_HUB_OFFLINE=1
      keeps it from the network, HF_HUB_DOWNLOAD_TIMEOUT is how many seconds without a byte make it try again (10).
      """,
    groups: [
      OptionGroup(
        "Options",
        [
          Option(
            "include", short: "i", value: "PATTERN", help: "take files that match, such as '*Q4_K_M.gguf'; repeatable"),
          Option("exclude", short: "x", value: "PATTERN", help: "leave out files that match; repeatable"),
          Option("jobs", short: "j", value: "N", help: "files at once (default 4)"),
          Option("retries", value: "N", help: "attempts without progress before giving up (default 5)"),
          Option("verify", help: "hash files that are there already, and fetch damaged ones again"),
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

  let pulled = try await fetch(model, with: pull)
  if arguments.has("json") {
    let object = JSONValue.object([
      "model": .string(pulled.name.repository), "revision": .string(pulled.name.revision),
      "commit": .string(pulled.commit), "folder": .string(pulled.folder),
      "num_files": .integer(Int64(pulled.fileCount)),
      "bytes": .integer(pulled.bytes),
    ])
    Terminal.write(object.text + "\n")
  } else {
    Terminal.write(
      "\(model): \(pulled.fileCount) files, \(readable(bytes: pulled.bytes)), commit \(pulled.commit.prefix(12))\n"
        + "\(pulled.folder)\nNext: pagoda chat \(model)\n")
  }
  return 0
}

/// Fetches a model and shows how far it is, from the first moment on.
func fetch(_ model: ModelName, with pull: ModelPull) async throws -> PulledModel {
  let line = ProgressLine("\(model)", unknown: true)
  defer { line.clear() }
  var pull = pull
  let host = URL(string: pull.settings.endpoint)?.host ?? pull.settings.endpoint
  if !pull.settings.isOffline { line.note("asking \(host)") }
  pull.settings.onRetry = { line.note($0) }
  return try await pull.pull(model) { line.show($0.fraction, after: describe($0)) }
}

/// Bytes, speed and time left, for the end of the progress line.
func describe(_ progress: PullProgress) -> String {
  let bytes = "\(readable(bytes: progress.bytesDone)) of \(readable(bytes: progress.bytesTotal))"
  if let note = progress.note { return "\(bytes), \(note)" }
  guard progress.bytesPerSecond > 0, let left = progress.secondsLeft else { return bytes }
  return "\(bytes), \(readable(bytes: Int64(progress.bytesPerSecond)))/s, \(readable(seconds: left)) left"
}

/// 75 as 1:15.
package func readable(seconds: Double) -> String {
  let whole = Int(min(max(seconds, 0), 359_999).rounded(.up))
  return whole >= 3600
    ? String(format: "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60)
    : String(format: "%d:%02d", whole / 60, whole % 60)
}
