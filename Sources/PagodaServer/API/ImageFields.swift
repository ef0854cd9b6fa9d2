// Images in requests, in the shapes of OpenAI, Anthropic and Ollama, as the bytes of their files. Nothing is downloaded.
import Foundation
import PagodaKit

extension FieldReader {
  /// The image of a part; nil for parts of other types, and if images are not read: then `mediaRemark` decides.
  func image(_ type: String) throws -> ImageInput? {
    guard let media, media.readsImages else { return nil }
    switch type {
    case "image_url", "input_image", "computer_screenshot": return try media.add(try openAIImage())
    case "image" where self["source"] != nil: return try media.add(try anthropicImage())
    default: return nil
    }
  }

  /// Ollama's `images`: base64 without a prefix.
  func ollamaImages() throws -> [Message.Part] {
    guard let list = try array("images"), !list.isEmpty else { return [] }
    guard let media, media.readsImages else {
      return try mediaRemark("image", field: "images").map { [.text($0)] } ?? []
    }
    return try list.enumerated().map { index, value in
      let field = "\(path)images[\(index)]"
      guard let text = value.stringValue else { throw APIError.invalid("\(field) must be a string", param: field) }
      return .image(try media.add(try Self.file(base64: text[...], field: field)))
    }
  }

  /// Chat completions have an object with `url` and `detail`; responses have both in the part itself.
  private func openAIImage() throws -> ImageInput {
    if self["file_id"] != nil {
      throw APIError.invalid(
        "\(path)file_id: this server stores no files; send the image as a data: URL", param: path + "file_id")
    }
    let nested = self["image_url"]?.objectValue != nil
    let holder = nested ? try object("image_url") ?? self : self
    let key = nested ? "url" : "image_url"
    guard let url = try holder.string(key) else { throw holder.missing(key) }
    let detail = try holder.choice("detail", of: ["auto", "low", "high", "original"])
    var image = try Self.file(dataURL: url, field: holder.path + key)
    if detail == "low" { image.detail = .low }
    return image
  }

  private func anthropicImage() throws -> ImageInput {
    guard let source = try object("source") else { throw missing("source") }
    switch try source.string("type") {
    case "base64":
      guard let data = try source.string("data") else { throw source.missing("data") }
      return try Self.file(base64: data[...], field: source.path + "data")
    case "url":
      guard let url = try source.string("url") else { throw source.missing("url") }
      return try Self.file(dataURL: url, field: source.path + "url")
    default:
      throw APIError.invalid(
        "\(source.path)type must be base64; this server stores no files", param: source.path + "type")
    }
  }

  /// `data:image/png;base64,...`. The type is not trusted: the bytes decide.
  private static func file(dataURL url: String, field: String) throws -> ImageInput {
    guard url.prefix(5).lowercased() == "data:" else {
      throw APIError.invalid(
        "\(field) is not a data: URL; this server downloads no images, so send data:image/png;base64,...", param: field,
        code: "unsupported_image_url")
    }
    guard let comma = url.firstIndex(of: ","), url.utf8.distance(from: url.startIndex, to: comma) < 256 else {
      throw APIError.invalid("\(field) has no comma after the type of its data", param: field, code: "invalid_image")
    }
    guard url[..<comma].lowercased().hasSuffix(";base64") else {
      throw APIError.invalid("\(field) must have its data in base64", param: field, code: "invalid_image")
    }
    return try file(base64: url[url.index(after: comma)...], field: field)
  }

  private static func file(base64 text: Substring, field: String) throws -> ImageInput {
    let size = text.utf8.count / 4 * 3
    if size > ImageInput.maximumBytes {
      throw APIError.invalid(
        "\(field) has about \(size) bytes; the limit is \(ImageInput.maximumBytes)", param: field,
        code: "image_too_large")
    }
    guard let data = Data(base64Encoded: Data(text.utf8), options: .ignoreUnknownCharacters), !data.isEmpty else {
      throw APIError.invalid("\(field) is not base64", param: field, code: "invalid_image")
    }
    let image = ImageInput(data: data)
    do {
      _ = try image.pixelSize  // format and size, before anything is decoded
    } catch let error as PagodaError {
      throw APIError.invalid("\(field): \(error.message)", param: field, code: "invalid_image")
    }
    return image
  }
}
