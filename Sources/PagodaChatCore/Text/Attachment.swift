// Attachment: a text, a document or an image attached to a message.
import Foundation
import PagodaKit

/// A text file or an image attached to a message.
public struct Attachment: Codable, Hashable, Sendable, Identifiable {
  /// Its permanent identity.
  public var id = UUID()
  /// The file's name.
  public var name: String
  /// Its content; empty for an image.
  public var text: String
  /// The image, if it is one.
  public var image: ImageInput?

  /// Maximum bytes of one file: more than the contexts of most models.
  public static let maximumBytes = 1 << 20

  /// Names of image files end with one of these.
  static let imageExtensions: Set = ["png", "jpg", "jpeg", "webp"]

  /// A file's name and content.
  public init(name: String, text: String) {
    self.name = name
    self.text = text
  }

  /// An image, such as a pasted one. Throws a ``ChatFailure`` if it is not a PNG, JPEG or WebP file, or too large.
  public init(name: String, image data: Data) throws {
    let image = ImageInput(data: data)
    do { _ = try image.pixelSize } catch { throw ChatFailure("\(name) cannot be attached", error) }
    self.init(name: name, text: "")
    self.image = image
  }

  /// Reads a file: text, an image, a PDF file or a web page. Throws a ``ChatFailure`` if it is none of them, or too large.
  public init(contentsOf url: URL, pdf: any PDFReader = SystemPDFReader()) throws {
    let name = url.lastPathComponent
    #if canImport(Darwin)
    let isScoped = url.startAccessingSecurityScopedResource()  // a file from outside the app's sandbox
    defer { if isScoped { url.stopAccessingSecurityScopedResource() } }
    #endif
    let values = try? url.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
    guard values?.isRegularFile == true else {
      throw ChatFailure("\(name) cannot be attached", cause: "It is not a file.")
    }
    let isImage = Self.imageExtensions.contains(url.pathExtension.lowercased())
    let kind = url.pathExtension.lowercased()
    let isDocument = ["pdf", "html", "htm"].contains(kind)
    let limit = isImage ? ImageInput.maximumBytes : isDocument ? Self.maximumDocumentBytes : Self.maximumBytes
    if let size = values?.fileSize, size > limit {
      throw ChatFailure(
        "\(name) cannot be attached", cause: "It has \(size) bytes; at most \(limit) are allowed.",
        advice: "Attach the part that matters.")
    }
    let data: Data
    do { data = try Data(contentsOf: url) } catch { throw ChatFailure("\(name) cannot be attached", error) }
    if isImage {
      try self.init(name: name, image: data)
      return
    }
    if isDocument {
      if kind == "pdf" {
        try self.init(name: name, pdf: data, reader: pdf)
      } else {
        try self.init(name: name, html: data)
      }
      return
    }
    guard let text = String(data: data, encoding: .utf8), !text.contains("\0") else {
      throw ChatFailure("\(name) cannot be attached", cause: "It is not a text in UTF-8.")
    }
    self.init(name: name, text: text)
  }

  /// The text that the model reads: the name, then the content in a fence that the content does not close.
  var markdown: String {
    if image != nil { return "[image \(name)]" }  // Markdown has no place for its bytes
    let longest = text.split(whereSeparator: { $0 != "`" }).map(\.count).max() ?? 0
    let fence = String(repeating: "`", count: max(3, longest + 1))
    return "\(name):\n\(fence)\n\(text)\(text.hasSuffix("\n") ? "" : "\n")\(fence)"
  }
}
