// Image files in the core: their size, and the patches that a vision tower reads.
internal import CxxCore
internal import Foundation

extension ImageInput {
  /// Largest file that is read, in bytes.
  public static var maximumBytes: Int { Int(pagoda.ImageLimits().max_bytes) }
  /// Largest number of pixels, width times height.
  public static var maximumPixels: Int { Int(pagoda.ImageLimits().max_pixels) }

  /// Width and height in pixels as a viewer shows them, without decoding the image. Throws if the file is damaged, too
  /// large or of another format.
  public var pixelSize: (width: Int, height: Int) {
    get throws {
      let header = withBytes { pagoda.read_image_header($0, $1, pagoda.ImageLimits()) }
      try header.status.throwIfError()
      return (Int(header.width), Int(header.height))
    }
  }

  /// The name of the file's format, for messages and MIME types: `png`, `jpeg` or `webp`. Nil if it is none of them.
  package var format: String? {
    let header = withBytes { pagoda.read_image_header($0, $1, pagoda.ImageLimits()) }
    return header.status.is_ok() ? String(header.format).lowercased() : nil
  }

  func prepared(_ options: pagoda.ImageOptions) throws -> pagoda.PreparedImage {
    let result = withBytes { pagoda.prepare_image_file($0, $1, pagoda.ImageLimits(), options) }
    try result.status.throwIfError()
    return result.image
  }

  private func withBytes<Result>(_ body: (UnsafePointer<UInt8>, Int64) -> Result) -> Result {
    data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> Result in
      guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else {
        return withUnsafePointer(to: UInt8(0)) { body($0, 0) }
      }
      return body(start, Int64(bytes.count))
    }
  }
}
