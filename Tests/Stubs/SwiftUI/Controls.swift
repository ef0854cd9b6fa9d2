// A stub of SwiftUI for Linux: controls with a value, and styles.

public struct TextField: StubBody {
  public init<Words: StringProtocol>(_ title: Words, text: Binding<String>) {}
  public init<Words: StringProtocol>(_ title: Words, text: Binding<String>, axis: Axis) {}
  public init<Words: StringProtocol, Format: ParseableFormatStyle>(
    _ title: Words, value: Binding<Format.FormatInput>, format: Format
  ) where Format.FormatOutput == String {}
  public init<Words: StringProtocol, Format: ParseableFormatStyle>(
    _ title: Words, value: Binding<Format.FormatInput?>, format: Format
  ) where Format.FormatOutput == String {}
}

public struct SecureField: StubBody {
  public init<Words: StringProtocol>(_ title: Words, text: Binding<String>) {}
}

public struct Menu<Content: View>: StubBody {
  public init<Words: StringProtocol>(_ title: Words, @ViewBuilder content: () -> Content) {}
}

public struct TextEditor: StubBody { public init(text: Binding<String>) {} }

public struct Toggle: StubBody { public init<Words: StringProtocol>(_ title: Words, isOn: Binding<Bool>) {} }

public struct Stepper<Label: View>: StubBody {
  public init<Value: Strideable>(
    value: Binding<Value>, in bounds: ClosedRange<Value>, step: Value.Stride = 1, @ViewBuilder label: () -> Label
  ) {}
}

public struct Picker<Content: View>: StubBody {
  public init<Words: StringProtocol, Selection: Hashable>(
    _ title: Words, selection: Binding<Selection>, @ViewBuilder content: () -> Content
  ) {}
}

public struct Font: Sendable {
  public static let (title2, title3, headline, caption) = (Font(), Font(), Font(), Font())
  public enum TextStyle { case body, caption, headline }
  public enum Design { case `default`, monospaced, serif }
  public static func system(_ style: TextStyle, design: Design? = nil) -> Font { Font() }
}

public protocol ShapeStyle: Sendable {}

public struct Color: ShapeStyle, StubBody {
  public static var clear: Color { Color() }
  public static let (orange, secondary, purple, red, blue) = (Color(), Color(), Color(), Color(), Color())
  public func opacity(_ opacity: Double) -> Color { self }
}

public struct HierarchicalShapeStyle: ShapeStyle {}

extension ShapeStyle where Self == HierarchicalShapeStyle {
  public static var secondary: HierarchicalShapeStyle { HierarchicalShapeStyle() }
}

extension ShapeStyle where Self == Color { public static var orange: Color { Color.orange } }

public protocol Shape: Sendable {}
public struct RoundedRectangle: Shape { public init(cornerRadius: CGFloat) {} }
public struct UnevenRoundedRectangle: Shape {
  public init(
    topLeadingRadius: CGFloat = 0, bottomLeadingRadius: CGFloat = 0, bottomTrailingRadius: CGFloat = 0,
    topTrailingRadius: CGFloat = 0
  ) {}
}

public struct PlainTextFieldStyle { public static var plain: PlainTextFieldStyle { PlainTextFieldStyle() } }
public struct LabelStyle { public static var iconOnly: LabelStyle { LabelStyle() } }
public struct ButtonStyle: Sendable {
  public static let borderless = ButtonStyle()
  #if canImport(AppKit)
  public static let link = ButtonStyle()
  #endif
}
public struct ToggleStyle: Sendable { public static let (button, `switch`) = (ToggleStyle(), ToggleStyle()) }
public struct FormStyle { public static var grouped: FormStyle { FormStyle() } }
public enum ControlSize { case mini, small, regular, large }
public struct TextSelectability { public static var enabled: TextSelectability { TextSelectability() } }
public struct SearchFieldPlacement { public static var sidebar: SearchFieldPlacement { SearchFieldPlacement() } }
public enum AccessibilityChildBehavior { case ignore, contain, combine }

public struct EventModifiers: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }
  public static let (command, shift) = (EventModifiers(rawValue: 1), EventModifiers(rawValue: 2))
  public static let (option, control) = (EventModifiers(rawValue: 4), EventModifiers(rawValue: 8))
}

public struct KeyEquivalent: ExpressibleByExtendedGraphemeClusterLiteral, Sendable {
  public init(extendedGraphemeClusterLiteral: Character) {}
  public init(_ character: Character) {}
  public static let (delete, escape, `return`): (KeyEquivalent, KeyEquivalent, KeyEquivalent) = ("d", "e", "r")
  public static let space: KeyEquivalent = " "
}

public struct KeyboardShortcut {
  public static var defaultAction: KeyboardShortcut { KeyboardShortcut() }
  public static var cancelAction: KeyboardShortcut { KeyboardShortcut() }
}

public protocol ToolbarContent {}
public struct ToolbarItemPlacement { public static var primaryAction: ToolbarItemPlacement { ToolbarItemPlacement() } }
public struct ToolbarItem<Content: View>: ToolbarContent {
  @MainActor public init(placement: ToolbarItemPlacement, @ViewBuilder content: () -> Content) {}
}

@resultBuilder public enum ToolbarContentBuilder {
  public static func buildBlock<each Item: ToolbarContent>(_ item: repeat each Item) {}
}

extension AttributedString {
  public var font: Font? {
    get { nil }
    set {}
  }
  public var foregroundColor: Color? {
    get { nil }
    set {}
  }
  public struct MarkdownParsingOptions {
    public enum InterpretedSyntax { case full, inlineOnly, inlineOnlyPreservingWhitespace }
    public init(interpretedSyntax: InterpretedSyntax) {}
  }
  public init(markdown: String, options: MarkdownParsingOptions) throws { self.init(markdown) }
}
