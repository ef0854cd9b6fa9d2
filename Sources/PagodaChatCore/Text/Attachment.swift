// Attachment: a text file attached to a message.
import Foundation

/// A text file attached to a message.
public struct Attachment: Codable, Hashable, Sendable, Identifiable {
  /// Its permanent identity.
  public var id = UUID()
  /// The file's name.
  public var name: String
  /// Its content.
  public var text: String

  /// Maximum bytes of one file: more than the contexts of most models.
  public static let maximumBytes = 1 << 20

  /// A file's name and content.
  public init(name: String, text: String) {
    self.name = name
    self.text = text
  }

  /// Reads a file. Throws a ``ChatFailure`` if it is not text, or too large.
  public init(contentsOf url: URL) throws {
    let name = url.lastPathComponent
    #if canImport(Darwin)
    let isScoped = url.startAccessingSecurityScopedResource()  // a file from outside the app's sandbox
    defer { if isScoped { url.stopAccessingSecurityScopedResource() } }
    #endif
    let values = try? url.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
    guard values?.isRegularFile == true else {
      throw ChatFailure("\(name) cannot be attached", cause: "It is not a file.")
    }
    if let size = values?.fileSize, size > Self.maximumBytes {
      throw ChatFailure(
        "\(name) cannot be attached", cause: "It has \(size) bytes; at most \(Self.maximumBytes) are allowed.",
        advice: "Attach the part that matters.")
    }
    let data: Data
    do { data = try Data(contentsOf: url) } catch { throw ChatFailure("\(name) cannot be attached", error) }
    guard let text = String(data: data, encoding: .utf8), !text.contains("\0") else {
      throw ChatFailure("\(name) cannot be attached", cause: "It is not a text in UTF-8.")
    }
    self.init(name: name, text: text)
  }

  /// The text that the model reads: the name, then the content in a fence that the content does not close.
  var markdown: String {
    let longest = text.split(whereSeparator: { $0 != "`" }).map(\.count).max() ?? 0
    let fence = String(repeating: "`", count: max(3, longest + 1))
    return "\(name):\n\(fence)\n\(text)\(text.hasSuffix("\n") ? "" : "\n")\(fence)"
  }
}
