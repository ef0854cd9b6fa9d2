// FileSelection: selects the files of a repository that make up a model.
import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Which files of a repository to download.
///
/// ```swift
/// let files = try FileSelection().choose(from: try await HubAPI(settings).listing(of: name), of: name)
/// ```
public struct FileSelection: Hashable, Sendable {
  /// Patterns such as `*.gguf` or `onnx/*`; a file must match one. Empty: the files that a model needs.
  public var include: [String] = []
  /// Files that match one of these are excluded.
  public var exclude: [String] = []

  /// Selects the files that a model needs.
  public init() {}

  /// The selected files; throws if there are none, or if several GGUF files are alternatives.
  public func choose(from listing: HubListing, of model: ModelName) throws -> [HubFile] {
    let allowed = listing.files.filter { file in !exclude.contains { matches(file.path, $0) } }
    let chosen =
      include.isEmpty
      ? try modelFiles(allowed, of: model) : allowed.filter { file in include.contains { matches(file.path, $0) } }
    guard !chosen.isEmpty else {
      let names = listing.files.map(\.path).sorted().prefix(20).joined(separator: ", ")
      throw HubError.notFound(
        (include.isEmpty
          ? "\(model): contains no safetensors or GGUF file"
          : "\(model): no file matches \(include.joined(separator: ", "))")
          + "; it contains " + (names.isEmpty ? "nothing" : names))
    }
    return chosen
  }

  /// Safetensors with the files next to them, or else the single GGUF; skips subfolders, which contain other formats.
  private func modelFiles(_ files: [HubFile], of model: ModelName) throws -> [HubFile] {
    let top = files.filter { !$0.path.contains("/") }
    var weights = top.filter { $0.path.hasSuffix(".safetensors") }
    // Some repositories contain the weights twice, the second time in one file for another program.
    if weights.contains(where: { $0.path.hasPrefix("model") }) {
      weights.removeAll { $0.path.hasPrefix("consolidated") }
    }
    if weights.isEmpty { weights = try onlyGGUF(top, of: model) }
    guard !weights.isEmpty else { return [] }
    let texts = [".json", ".jinja", ".txt", ".model"]
    return weights + top.filter { file in texts.contains { file.path.hasSuffix($0) } }
  }

  private func onlyGGUF(_ files: [HubFile], of model: ModelName) throws -> [HubFile] {
    let choices = Self.ggufChoices(files)
    guard choices.count > 1 else { return choices.first?.files ?? [] }
    let rows = choices.map { "  \($0.pattern)  \(gibibytes($0.sizeBytes))" }
    throw HubError.invalidName(
      "\(model): contains several GGUF files; choose one with --include, by name or pattern:\n"
        + rows.joined(separator: "\n"))
  }

  /// The models among GGUF files, by name: one file each, or the parts of one.
  static func ggufChoices(_ files: [HubFile]) -> [GGUFChoice] {
    let all = files.filter { isGGUF($0.path) }
    return Dictionary(grouping: all) { withoutShard($0.path) }.sorted { $0.key < $1.key }.map { name, shards in
      GGUFChoice(pattern: shards.count > 1 ? name + "*" : shards[0].path, files: shards)
    }
  }

  /// Whether a path is that of a GGUF file with a language model.
  static func isGGUF(_ path: String) -> Bool {
    path.lowercased().hasSuffix(".gguf") && !path.lowercased().contains("mmproj")
  }

  /// The name without the part number: `x-00001-of-00003.gguf` becomes `x`.
  private static func withoutShard(_ path: String) -> String {
    guard let range = path.range(of: "-[0-9]{5}-of-[0-9]{5}[.]gguf$", options: .regularExpression) else { return path }
    return String(path[..<range.lowerBound])
  }

  /// Matches like `huggingface_hub`: `*` also matches slashes, and a folder matches everything in it.
  private func matches(_ path: String, _ pattern: String) -> Bool {
    fnmatch(pattern.hasSuffix("/") ? pattern + "*" : pattern, path, 0) == 0
  }
}

/// One of several GGUF models in a repository.
public struct GGUFChoice: Hashable, Sendable, Identifiable {
  /// The name of its file, or a pattern for its parts; for ``FileSelection/include``.
  public let pattern: String
  /// Its files.
  public let files: [HubFile]

  /// A choice, for tests.
  public init(pattern: String, files: [HubFile]) {
    self.pattern = pattern
    self.files = files
  }
  /// The pattern.
  public var id: String { pattern }
  /// Bytes of all its files.
  public var sizeBytes: Int64 { files.reduce(0) { $0 + $1.size } }
}

extension HubListing {
  /// The GGUF models to choose from; empty if there is no choice: a repository with safetensors, or with one GGUF file.
  public var ggufChoices: [GGUFChoice] {
    let top = files.filter { !$0.path.contains("/") }
    if top.contains(where: { $0.path.hasSuffix(".safetensors") }) { return [] }
    let choices = FileSelection.ggufChoices(top)
    return choices.count > 1 ? choices : []
  }
}

func gibibytes(_ bytes: Int64) -> String {
  let mebibytes = Double(bytes) / 1_048_576
  if mebibytes < 1024 { return String(format: "%.1f MiB", mebibytes) }
  return String(format: mebibytes < 10_240 ? "%.2f GiB" : "%.1f GiB", mebibytes / 1024)
}
