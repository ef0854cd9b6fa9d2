// MediaRule: images, audio and files in messages: images are read if the model can; others are refused, or replaced by remarks.
import PagodaKit

/// Whether the media of one request are ignored, and which were. Used by one thread.
final class MediaRule {
  private let isIgnored: Bool
  private(set) var ignored: [String] = []  // for the header of ignored fields
  let readsImages: Bool
  private var imageCount = 0

  static let maximumImages = 100

  init(_ fields: FieldReader, _ models: ServedModels) throws {
    isIgnored = try fields.flag("ignore_media") ?? models.ignoresMedia
    readsImages = models.readsImages && !isIgnored
  }

  /// The same image, if the request may have one more.
  func add(_ image: ImageInput) throws -> ImageInput {
    imageCount += 1
    if imageCount <= Self.maximumImages { return image }
    throw APIError.invalid("the request has more than \(Self.maximumImages) images", code: "too_many_images")
  }

  fileprivate func note(_ type: String) -> Bool {
    if isIgnored, !ignored.contains("content.\(type)") { ignored.append("content.\(type)") }
    return isIgnored
  }
}

extension FieldReader {
  /// The same fields, whose media are ignored if the request or the server says so.
  func withMedia(_ models: ServedModels) throws -> FieldReader {
    var reader = self
    reader.media = try MediaRule(self, models)
    return reader
  }

  /// What the model reads, for messages about anything else.
  var readable: String { media?.readsImages == true ? "text and images" : "text" }

  /// The remark that the model reads instead of an image, audio or a file: that there was one, and its name. Nil for
  /// parts of other types. Nothing is ever downloaded. `field` is the part's own name where parts have no types.
  func mediaRemark(_ type: String, field: String? = nil) throws -> String? {
    let file = self["file"] ?? .object(members)
    let text: String
    switch type {
    case "image", "image_url", "input_image", "computer_screenshot": text = Self.remark("image", nil)
    case "input_audio", "audio": text = Self.remark("audio", nil)
    case "video_url", "input_video": text = Self.remark("video", nil)
    case "file", "input_file", "document", "container_upload":
      text = Self.remark("file", (file["filename"] ?? file["title"] ?? file["file_id"])?.stringValue)
    case "tool_reference": return Self.remark("tool", self["tool_name"]?.stringValue)
    default: return nil
    }
    if media?.note(type) == true { return text }
    if media?.readsImages == true && text == Self.remark("image", nil) {
      throw APIError.invalid(
        "\(path)type is '\(type)'; images are read in messages of the user and in results of tools",
        param: path + "type", code: "unsupported_media")
    }
    if let field {
      throw APIError.invalid("\(path)\(field): this model reads \(readable) only", param: path + field)
    }
    throw APIError.invalid(
      "\(path)type is '\(type)'; this model reads \(readable) only (with ignore_media it reads a remark instead)",
      param: path + "type", code: "unsupported_media")
  }

  private static func remark(_ kind: String, _ name: String?) -> String {
    let plain = (name ?? "").unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F && $0 != "[" && $0 != "]" }
    let text = String(String.UnicodeScalarView(plain)).prefix(100)
    return text.isEmpty ? "[\(kind)]" : "[\(kind): \(text)]"
  }
}
