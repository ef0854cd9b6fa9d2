// A stub of AppKit for Linux, for type checking only.
@_exported import Foundation

@MainActor public class NSApplication: NSObject {
  public static let shared = NSApplication()
  public enum ActivationPolicy { case regular, accessory, prohibited }
  @discardableResult public func setActivationPolicy(_ policy: ActivationPolicy) -> Bool { true }
  public func activate(ignoringOtherApps: Bool) {}
  public func terminate(_ sender: Any?) {}
  public struct ModalResponse: Equatable, Sendable {
    public static let (OK, cancel) = (ModalResponse(), ModalResponse())
  }
}

@MainActor public protocol NSApplicationDelegate: AnyObject {
  func applicationDidFinishLaunching(_ notification: Notification)
  func applicationDidResignActive(_ notification: Notification)
  func applicationWillTerminate(_ notification: Notification)
  func applicationShouldTerminateAfterLastWindowClosed(_ sender: NSApplication) -> Bool
}

@MainActor public final class NSPasteboard {
  public static let general = NSPasteboard()
  public enum PasteboardType { case string, png, tiff }
  public func data(forType type: PasteboardType) -> Data? { nil }
  @discardableResult public func clearContents() -> Int { 0 }
  @discardableResult public func setString(_ text: String, forType type: PasteboardType) -> Bool { true }
}

public final class NSImage {
  public init?(data: Data) {}
}

public final class NSBitmapImageRep {
  public enum FileType { case png }
  public struct PropertyKey: Hashable, Sendable {}
  public init?(data: Data) {}
  public func representation(using type: FileType, properties: [PropertyKey: Any]) -> Data? { nil }
}

@MainActor public final class NSSavePanel {
  public init() {}
  public var nameFieldStringValue = ""
  public var title = ""
  public var url: URL?
  public func runModal() -> NSApplication.ModalResponse { .OK }
}
