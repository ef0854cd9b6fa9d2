// Short names of models: `qwen3.5:4b` for Qwen/Qwen3.5-4B.

/// A family of models on the hub that people know by a short name.
struct ModelFamily {
  var name: String  // before the colon
  var prefix: String  // of the repository, before the size
  var suffix = ""
  var sizes: [String]  // as in the repository

  static let all = [
    ModelFamily(name: "qwen3.5", prefix: "Qwen/Qwen3.5-", sizes: ["0.8B", "2B", "4B", "9B", "27B", "35B-A3B"]),
    ModelFamily(name: "qwen3", prefix: "Qwen/Qwen3-", sizes: ["0.6B", "1.7B", "4B", "8B", "14B", "32B", "30B-A3B"]),
    ModelFamily(
      name: "qwen2.5", prefix: "Qwen/Qwen2.5-", suffix: "-Instruct",
      sizes: ["0.5B", "1.5B", "3B", "7B", "14B", "32B", "72B"]),
    ModelFamily(
      name: "smollm2", prefix: "HuggingFaceTB/SmolLM2-", suffix: "-Instruct", sizes: ["135M", "360M", "1.7B"]),
  ]
}

/// `qwen3.5:4b` as `Qwen/Qwen3.5-4B`; other names unchanged. An unknown size of a known family is refused with the list
/// of sizes.
package func fullModelName(_ name: String) throws -> String {
  let parts = name.lowercased().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
  guard let family = ModelFamily.all.first(where: { $0.name == parts[0] }) else { return name }
  guard parts.count == 2, let size = family.sizes.first(where: { $0.lowercased() == parts[1] }) else {
    let names = family.sizes.map { "\(family.name):\($0.lowercased())" }
    throw UsageError("'\(name)' is not a model; \(family.name) comes as \(names.joined(separator: ", "))")
  }
  return family.prefix + size + family.suffix
}
