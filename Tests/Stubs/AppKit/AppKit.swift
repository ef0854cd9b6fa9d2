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

@MainActor open class NSView: NSObject {}

@MainActor public class NSWindow: NSObject {
  public struct StyleMask: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let (titled, fullSizeContentView) = (StyleMask(rawValue: 1), StyleMask(rawValue: 2))
    public static let nonactivatingPanel = StyleMask(rawValue: 4)
  }
  public enum BackingStoreType: Sendable { case buffered }
  public enum TitleVisibility: Sendable { case visible, hidden }
  public struct Level: Sendable { public static let floating = Level() }
  public struct CollectionBehavior: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let canJoinAllSpaces = CollectionBehavior(rawValue: 1)
    public static let fullScreenAuxiliary = CollectionBehavior(rawValue: 2)
  }
  public init(contentRect: NSRect, styleMask: StyleMask, backing: BackingStoreType, defer flag: Bool) {}
  public var level = Level()
  public var collectionBehavior: CollectionBehavior = []
  public var titleVisibility = TitleVisibility.visible
  public var titlebarAppearsTransparent = false
  public var isMovableByWindowBackground = false
  public var hidesOnDeactivate = false
  public var isReleasedWhenClosed = true
  public var isVisible: Bool { false }
  public var contentView: NSView?
  public func center() {}
  public func makeKeyAndOrderFront(_ sender: Any?) {}
  public func orderOut(_ sender: Any?) {}
}

@MainActor public final class NSPanel: NSWindow {}

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
