// A stub of SwiftUI for Linux: apps, scenes, commands.
#if canImport(AppKit)
import AppKit
#endif

@MainActor @preconcurrency public protocol App {
  associatedtype Body: Scene
  @SceneBuilder var body: Body { get }
  init()
}

extension App { public static func main() {} }

@MainActor @preconcurrency public protocol Scene {}

public struct StubScene: Scene {}

@resultBuilder public enum SceneBuilder {
  public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
  public static func buildBlock<each Content: Scene>(_ content: repeat each Content) -> StubScene { StubScene() }
}

public struct WindowGroup<Content: View>: Scene {
  public init(_ title: String, @ViewBuilder content: () -> Content) {}
  public init(_ title: String, id: String, @ViewBuilder content: () -> Content) {}
}

#if canImport(AppKit)
public struct Settings<Content: View>: Scene { public init(@ViewBuilder content: () -> Content) {} }

public struct Window<Content: View>: Scene {
  public init(_ title: String, id: String, @ViewBuilder content: () -> Content) {}
}

public struct MenuBarExtra<Content: View>: Scene {
  public init(
    _ title: String, systemImage: String, isInserted: Binding<Bool>, @ViewBuilder content: () -> Content
  ) {}
}
#endif

extension Scene {
  public func defaultSize(width: CGFloat, height: CGFloat) -> some Scene { StubScene() }
  public func commands<Content: Commands>(@CommandsBuilder content: () -> Content) -> some Scene { StubScene() }
}

@MainActor @preconcurrency public protocol Commands {
  associatedtype Body: Commands
  @CommandsBuilder var body: Body { get }
}

public struct StubCommands: Commands { public var body: StubCommands { self } }

@resultBuilder public enum CommandsBuilder {
  public static func buildBlock<Content: Commands>(_ content: Content) -> Content { content }
  public static func buildBlock<each Content: Commands>(_ content: repeat each Content) -> StubCommands {
    StubCommands()
  }
}

public struct CommandMenu<Content: View>: Commands {
  public init(_ name: String, @ViewBuilder content: () -> Content) {}
  public var body: StubCommands { StubCommands() }
}

public struct CommandGroupPlacement {
  public static var newItem: CommandGroupPlacement { CommandGroupPlacement() }
  public static var help: CommandGroupPlacement { CommandGroupPlacement() }
}

public struct CommandGroup<Content: View>: Commands {
  public init(replacing: CommandGroupPlacement, @ViewBuilder addition: () -> Content) {}
  public var body: StubCommands { StubCommands() }
}

#if canImport(AppKit)
@MainActor public final class NSHostingView<Content: View>: NSView {
  public init(rootView: Content) {}
}

@MainActor @propertyWrapper public struct NSApplicationDelegateAdaptor<Delegate: NSObject & NSApplicationDelegate> {
  public init(_ type: Delegate.Type = Delegate.self) {}
  public var wrappedValue: Delegate { fatalError() }
}
#endif
