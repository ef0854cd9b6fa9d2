// ModelName: a model on a hub, ORG/NAME with an optional @revision.

/// A model on a hub.
///
/// ```swift
/// if let name = ModelName("Qwen/Qwen3.5-0.8B") { print(name) }
/// ```
public struct ModelName: Hashable, Sendable, CustomStringConvertible {
  /// `ORG/NAME`.
  public let repository: String
  /// A branch, a tag or a commit.
  public let revision: String

  /// The branch of a name without a revision.
  public static let defaultRevision = "main"

  /// Parses `ORG/NAME` or `ORG/NAME@revision`; nil if the text is not a valid name.
  public init?(_ text: String) {
    let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let names = parts[0].split(separator: "/", omittingEmptySubsequences: false)
    guard names.count == 2, names.allSatisfy({ Self.isName($0) }) else { return nil }
    let revision = parts.count > 1 ? String(parts[1]) : Self.defaultRevision
    guard Self.isRevision(revision) else { return nil }
    self.repository = String(parts[0])
    self.revision = revision
  }

  /// The name in its usual notation.
  public var description: String {
    revision == Self.defaultRevision ? repository : "\(repository)@\(revision)"
  }

  /// The folder of the model in a cache, as `huggingface_hub` names it.
  var folderName: String { "models--" + repository.split(separator: "/").joined(separator: "--") }

  /// The repository of a cache folder; nil for other folders.
  static func repository(ofFolder folder: String) -> String? {
    guard folder.hasPrefix("models--") else { return nil }
    let rest = folder.dropFirst("models--".count)
    guard let separator = rest.firstRange(of: "--") else { return nil }
    let name = "\(rest[..<separator.lowerBound])/\(rest[separator.upperBound...])"
    return ModelName(name)?.repository
  }

  // The hub's own rule for both parts; it also keeps ".." and separators out of paths.
  private static func isName(_ name: Substring) -> Bool {
    guard let first = name.first, let last = name.last, name.count <= 96 else { return false }
    return name.allSatisfy { isPlain($0) } && ![first, last].contains { $0 == "." || $0 == "-" }
      && !name.contains("..") && !name.contains("--")
  }

  private static func isRevision(_ revision: String) -> Bool {
    let parts = revision.split(separator: "/", omittingEmptySubsequences: false)
    return revision.count <= 256
      && parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") && $0.allSatisfy { isPlain($0) || $0 == "+" } }
  }

  private static func isPlain(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "._-".contains(character))
  }
}

/// Whether the text is a lower-case hexadecimal number of this length: a commit (40), a blob (40 or 64).
func isHexadecimal(_ text: String, digits: Int) -> Bool {
  text.utf8.count == digits && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
}
