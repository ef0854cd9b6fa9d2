// A stub of SwiftUI for Linux: the modifiers that the app uses.
import UniformTypeIdentifiers

extension View {
  public func padding(_ length: CGFloat) -> some View { StubView() }
  public func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View { StubView() }
  public func frame(width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center) -> some View {
    StubView()
  }
  public func frame(
    minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
    idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center
  ) -> some View { StubView() }
  public func background<Style: ShapeStyle>(_ style: Style) -> some View { StubView() }
  public func background<Style: ShapeStyle, Outline: Shape>(_ style: Style, in shape: Outline) -> some View {
    StubView()
  }
  public func scaledToFill() -> some View { StubView() }
  public func clipShape<Outline: Shape>(_ shape: Outline) -> some View { StubView() }
  public func foregroundStyle<Style: ShapeStyle>(_ style: Style) -> some View { StubView() }
  public func font(_ font: Font?) -> some View { StubView() }
  public func monospacedDigit() -> some View { StubView() }
  public func lineLimit(_ count: Int?) -> some View { StubView() }
  public func lineLimit(_ range: ClosedRange<Int>) -> some View { StubView() }
  public func textSelection(_ selectability: TextSelectability) -> some View { StubView() }
  public func textFieldStyle(_ style: PlainTextFieldStyle) -> some View { StubView() }
  public func labelStyle(_ style: LabelStyle) -> some View { StubView() }
  public func buttonStyle(_ style: ButtonStyle) -> some View { StubView() }
  public func toggleStyle(_ style: ToggleStyle) -> some View { StubView() }
  public func formStyle(_ style: FormStyle) -> some View { StubView() }
  public func controlSize(_ size: ControlSize) -> some View { StubView() }
  public func disabled(_ isDisabled: Bool) -> some View { StubView() }
  public func help<Words: StringProtocol>(_ text: Words) -> some View { StubView() }
  public func id<ID: Hashable>(_ id: ID) -> some View { StubView() }
  public func tag<Value: Hashable>(_ value: Value) -> some View { StubView() }
  public func focused(_ condition: FocusState<Bool>.Binding) -> some View { StubView() }
  public func onSubmit(_ action: @escaping @MainActor () -> Void) -> some View { StubView() }
  public func onAppear(perform action: (@MainActor () -> Void)? = nil) -> some View { StubView() }
  public func onDisappear(perform action: (@MainActor () -> Void)? = nil) -> some View { StubView() }
  public func focusedSceneValue<Value>(_ keyPath: WritableKeyPath<FocusedValues, Value?>, _ value: Value) -> some View {
    StubView()
  }
  public func overlay<Content: View>(alignment: Alignment, @ViewBuilder content: () -> Content) -> some View {
    StubView()
  }
  public func sheet<Item: Identifiable, Content: View>(
    item: Binding<Item?>, @ViewBuilder content: @escaping (Item) -> Content
  ) -> some View { StubView() }
  public func confirmationDialog<Actions: View, Message: View>(
    _ title: String, isPresented: Binding<Bool>, titleVisibility: Visibility, @ViewBuilder actions: () -> Actions,
    @ViewBuilder message: () -> Message
  ) -> some View { StubView() }
  public func onChange<Value: Equatable>(of value: Value, _ action: @escaping @MainActor () -> Void) -> some View {
    StubView()
  }
  public func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> some View { StubView() }
  public func scrollContentBackground(_ visibility: Visibility) -> some View { StubView() }
  public func fixedSize() -> some View { StubView() }
  public func scaleEffect(x: CGFloat = 1, y: CGFloat = 1, anchor: UnitPoint = .center) -> some View { StubView() }
  public func fixedSize(horizontal: Bool, vertical: Bool) -> some View { StubView() }
  @available(macOS 15, iOS 18, *)
  public func onScrollPhaseChange(_ action: @escaping @MainActor (ScrollPhase, ScrollPhase) -> Void) -> some View {
    StubView()
  }
  public func defaultScrollAnchor(_ anchor: UnitPoint?) -> some View { StubView() }
  public func keyboardShortcut(_ key: KeyEquivalent, modifiers: EventModifiers = .command) -> some View { StubView() }
  public func keyboardShortcut(_ shortcut: KeyboardShortcut) -> some View { StubView() }
  public func navigationTitle<Words: StringProtocol>(_ title: Words) -> some View { StubView() }
  public func searchable(text: Binding<String>, placement: SearchFieldPlacement, prompt: String) -> some View {
    StubView()
  }
  public func toolbar(@ToolbarContentBuilder content: () -> Void) -> some View { StubView() }
  public func tabItem<Content: View>(@ViewBuilder _ content: () -> Content) -> some View { StubView() }
  public func contextMenu<Content: View>(@ViewBuilder menuItems: () -> Content) -> some View { StubView() }
  public func overlay<Content: View>(@ViewBuilder content: () -> Content) -> some View { StubView() }
  public func sheet<Content: View>(isPresented: Binding<Bool>, @ViewBuilder content: @escaping () -> Content)
    -> some View
  {
    StubView()
  }
  public func alert<Actions: View>(
    _ title: String, isPresented: Binding<Bool>, @ViewBuilder actions: () -> Actions
  ) -> some View { StubView() }
  public func dropDestination<Item>(
    for type: Item.Type, action: @escaping @MainActor ([Item], CGPoint) -> Bool
  ) -> some View { StubView() }
  public func fileImporter(
    isPresented: Binding<Bool>, allowedContentTypes: [UTType], allowsMultipleSelection: Bool,
    onCompletion: @escaping @MainActor (Result<[URL], any Error>) -> Void
  ) -> some View { StubView() }
  public func accessibilityHidden(_ isHidden: Bool) -> some View { StubView() }
  public func accessibilityElement(children: AccessibilityChildBehavior = .ignore) -> some View { StubView() }
  public func accessibilityLabel<Words: StringProtocol>(_ label: Words) -> some View { StubView() }
  public func accessibilityHint<Words: StringProtocol>(_ hint: Words) -> some View { StubView() }
}

public enum Edge {
  public struct Set: Sendable {
    public static let (all, horizontal, vertical, leading) = (Set(), Set(), Set(), Set())
    public static let (top, bottom) = (Set(), Set())
  }
}

@available(macOS 15, iOS 18, *)
public enum ScrollPhase: Sendable, Equatable { case idle, tracking, interacting, decelerating, animating }

public enum Visibility: Sendable { case automatic, visible, hidden }
