// A stub of SwiftUI for Linux: the views that the app uses, with SwiftUI's parameters.
#if canImport(AppKit)
import AppKit
#else
import UIKit
#endif

public protocol StubBody: View {}
extension StubBody { public var body: Never { fatalError() } }

public struct Text: StubBody {
  public init<Words: StringProtocol>(_ content: Words) {}
  public init(_ content: AttributedString) {}
  public func font(_ font: Font?) -> Text { self }
  public func bold() -> Text { self }
  public func monospacedDigit() -> Text { self }
}

public struct ButtonRole: Sendable { public static let (cancel, destructive) = (ButtonRole(), ButtonRole()) }

public struct Button<Label: View>: StubBody {
  public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
}

extension Button where Label == Text {
  public init<Words: StringProtocol>(_ title: Words, action: @escaping @MainActor () -> Void) {}
  public init<Words: StringProtocol>(_ title: Words, role: ButtonRole?, action: @escaping @MainActor () -> Void) {}
}

extension Button where Label == SwiftUI.Label<Text, Image> {
  public init<Words: StringProtocol>(_ title: Words, systemImage: String, action: @escaping @MainActor () -> Void) {}
  public init<Words: StringProtocol>(
    _ title: Words, systemImage: String, role: ButtonRole?, action: @escaping @MainActor () -> Void
  ) {}
}

public struct Label<Title: View, Icon: View>: StubBody {}

extension Label where Title == Text, Icon == Image {
  public init<Words: StringProtocol>(_ title: Words, systemImage: String) {}
}

public struct ShareLink: StubBody { public init<Words: StringProtocol>(_ title: Words, item: String) {} }
public struct Image: StubBody {
  public init(systemName: String) {}
  #if canImport(AppKit)
  public init(nsImage: NSImage) {}
  #else
  public init(uiImage: UIImage) {}
  #endif
  public func resizable() -> Image { self }
}
public struct Spacer: StubBody { public init() {} }
public struct Divider: StubBody { public init() {} }

public enum HorizontalAlignment { case leading, center, trailing }
public enum VerticalAlignment { case top, center, bottom, firstTextBaseline }
public enum Alignment { case leading, center, trailing, top, bottom }

public struct VStack<Content: View>: StubBody {
  public init(alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
}

public struct LazyVStack<Content: View>: StubBody {
  public init(alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
}

public struct HStack<Content: View>: StubBody {
  public init(alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
}

public struct Grid<Content: View>: StubBody {
  public init(
    alignment: Alignment = .center, horizontalSpacing: CGFloat? = nil, verticalSpacing: CGFloat? = nil,
    @ViewBuilder content: () -> Content
  ) {}
}

public struct GridRow<Content: View>: StubBody {
  public init(alignment: VerticalAlignment? = nil, @ViewBuilder content: () -> Content) {}
}

public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: StubBody {
  public init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
}

extension ForEach where Data.Element: Identifiable, ID == Data.Element.ID {
  public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
}

public struct List<Content: View>: StubBody {
  public init(@ViewBuilder content: () -> Content) {}
  public init<Selection: Hashable>(selection: Binding<Selection?>?, @ViewBuilder content: () -> Content) {}
}

public struct Axis: Sendable {
  public struct Set: Sendable { public static let (horizontal, vertical) = (Set(), Set()) }
  public static let (horizontal, vertical) = (Axis(), Axis())
}

public struct ScrollView<Content: View>: StubBody {
  public init(_ axes: Axis.Set = .vertical, @ViewBuilder content: () -> Content) {}
}

public struct ScrollViewReader<Content: View>: StubBody {
  public init(@ViewBuilder content: @escaping (ScrollViewProxy) -> Content) {}
}

@MainActor public struct ScrollViewProxy { public func scrollTo<ID: Hashable>(_ id: ID, anchor: UnitPoint? = nil) {} }

public struct UnitPoint: Sendable { public static let (top, bottom, center) = (UnitPoint(), UnitPoint(), UnitPoint()) }

public struct NavigationSplitView<Sidebar: View, Detail: View>: StubBody {
  public init(@ViewBuilder sidebar: () -> Sidebar, @ViewBuilder detail: () -> Detail) {}
}

public struct ContentUnavailableView: StubBody {
  public init(_ title: String, systemImage: String, description: Text? = nil) {}
}

public struct DisclosureGroup<Content: View>: StubBody {
  public init<Words: StringProtocol>(_ label: Words, @ViewBuilder content: @escaping () -> Content) {}
}

public struct ProgressView: StubBody {
  public init() {}
  public init<Value: BinaryFloatingPoint>(value: Value?, total: Value = 1) {}
}

public struct Form<Content: View>: StubBody { public init(@ViewBuilder content: () -> Content) {} }

public struct Section<Content: View>: StubBody {
  public init<Words: StringProtocol>(_ title: Words, @ViewBuilder content: () -> Content) {}
}

public struct TabView<Content: View>: StubBody { public init(@ViewBuilder content: () -> Content) {} }

@MainActor public protocol ViewModifier {
  associatedtype Body: View
  typealias Content = StubView
  @ViewBuilder func body(content: Content) -> Body
}

extension View {
  public func modifier<Modifier: ViewModifier>(_ modifier: Modifier) -> some View { StubView() }
}
