// How the app shows an attached image: the size of its thumbnail, and the words for it.
import Foundation
import PagodaKit

/// The size at which a thumbnail is shown, in points.
public struct ThumbnailSize: Hashable, Sendable {
  /// Width in points.
  public var width: Double
  /// Height in points.
  public var height: Double
}

extension Attachment {
  /// The longer side of a thumbnail, in points.
  public static let thumbnailSide = 96.0
  /// A banner or a column stays wide enough to be seen and removed; the rest of it is cut off.
  static let minimumThumbnailSide = 24.0

  /// The size of the image's thumbnail: the image as a whole within a square, not enlarged. Nil for a text file, or for
  /// an image that cannot be read any more.
  public var thumbnailSize: ThumbnailSize? {
    guard let image, let (width, height) = try? image.pixelSize else { return nil }
    let scale = min(1, Self.thumbnailSide / Double(max(width, height)))
    let side = { (pixels: Int) in max((Double(pixels) * scale).rounded(), Self.minimumThumbnailSide) }
    return ThumbnailSize(width: side(width), height: side(height))
  }

  /// What VoiceOver says: the name, and the size of an image.
  public var spokenLabel: String {
    guard let image else { return localized("File \(name)") }
    guard let (width, height) = try? image.pixelSize else { return localized("Image \(name)") }
    return localized("Image \(name), \(width) by \(height) pixels")
  }
}
