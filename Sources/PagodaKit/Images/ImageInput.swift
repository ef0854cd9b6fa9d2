// ImageInput: an image of a message, as the bytes of its file.
public import PagodaFoundation

/// An image of a message: the bytes of a PNG, JPEG or WebP file.
///
/// ```swift
/// let photo = try ImageInput(contentsOf: URL(filePath: "photo.jpg"))
/// print(try await session.respond(to: .user("What is this?", images: [photo])))
/// ```
///
/// The model needs a vision tower (``ModelInfo/readsImages``), and the program the product `PagodaImages`, which decodes
/// the files.
public struct ImageInput: Hashable, Sendable, Codable {
  /// How many tokens an image may take.
  public enum Detail: String, Hashable, Sendable, Codable, CaseIterable {
    /// At most 256 tokens, which is enough to say what an image shows.
    case low
    /// As many as the model gives an image of this size, for text and small things.
    case high
  }

  /// The bytes of the file.
  public var data: Data
  /// How many tokens the image may take.
  public var detail: Detail

  /// An image from the bytes of a PNG, JPEG or WebP file; they are checked when it is used.
  public init(data: Data, detail: Detail = .high) {
    self.data = data
    self.detail = detail
  }

  /// An image in a file. Throws ``PagodaError/invalidArgument(_:)`` if it is too large, or not a PNG, JPEG or WebP file.
  public init(contentsOf url: URL, detail: Detail = .high) throws {
    guard url.isFileURL else {
      throw PagodaError.invalidArgument("\(url.absoluteString) is not a file; images are never downloaded")
    }
    let size = (try? url.resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? 0
    if size > Self.maximumBytes {
      throw PagodaError.invalidArgument("\(url.path) has \(size) bytes; the limit is \(Self.maximumBytes)")
    }
    do {
      self.init(data: try Data(contentsOf: url), detail: detail)
    } catch {
      throw PagodaError.inputOutput("\(url.path) cannot be read: \(error.localizedDescription)")
    }
    do {
      _ = try pixelSize
    } catch let error as PagodaError {
      throw PagodaError.invalidArgument("\(url.path): \(error.message)")
    }
  }

  private enum CodingKeys: CodingKey { case data, detail }

  /// Reads an image; without a detail it has the high one.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    data = try fields.decode(Data.self, forKey: .data)
    detail = try fields.decodeIfPresent(Detail.self, forKey: .detail) ?? .high
  }
}

#if canImport(ImageIO)
public import CoreGraphics
internal import ImageIO

extension ImageInput {
  /// An image in memory, stored as PNG.
  public init(_ image: CGImage, detail: Detail = .high) throws {
    let data = NSMutableData()
    guard let target = CGImageDestinationCreateWithData(data, "public.png" as CFString, 1, nil) else {
      throw PagodaError.internal("there is no PNG encoder")
    }
    CGImageDestinationAddImage(target, image, nil)
    guard CGImageDestinationFinalize(target) else {
      throw PagodaError.invalidArgument("the image cannot be stored as PNG")
    }
    self.init(data: data as Data, detail: detail)
  }
}
#endif
