// A stub of UIKit for Linux, for type checking only.
@_exported import Foundation

@MainActor public final class UIPasteboard {
  public static let general = UIPasteboard()
  public var string: String?
  public var image: UIImage?
}

public final class UIImage {
  public init?(data: Data) {}
  public func pngData() -> Data? { nil }
}
