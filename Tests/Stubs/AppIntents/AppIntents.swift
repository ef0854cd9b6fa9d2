// A stub of AppIntents for Linux, for type checking only.
@_exported import Foundation

public struct LocalizedStringResource: ExpressibleByStringLiteral, Sendable {
  public init(stringLiteral value: String) {}
}
public struct IntentDescription: ExpressibleByStringLiteral, Sendable {
  public init(stringLiteral value: String) {}
  public init(_ text: LocalizedStringResource) {}
}
public struct IntentDialog: ExpressibleByStringLiteral, Sendable { public init(stringLiteral value: String) {} }

public protocol AppIntent: Sendable {
  associatedtype PerformResult: IntentResult
  static var title: LocalizedStringResource { get }
  init()
  func perform() async throws -> PerformResult
}

public protocol IntentResult: Sendable {}
public protocol ReturnsValue<Value>: IntentResult { associatedtype Value }
public protocol ProvidesDialog: IntentResult {}
public struct StubResult<Value: Sendable>: ReturnsValue, ProvidesDialog {}

extension IntentResult {
  public static func result<Value: Sendable>(value: Value, dialog: IntentDialog) -> Self
  where Self == StubResult<Value> { StubResult() }
}

@propertyWrapper public struct IntentParameter<Value: Sendable>: Sendable {
  public init(title: LocalizedStringResource) {}
  public var wrappedValue: Value {
    get { fatalError() }
    set {}
  }
}
extension AppIntent { public typealias Parameter<Value: Sendable> = IntentParameter<Value> }

public struct AppShortcutPhraseToken: Sendable { public static let applicationName = AppShortcutPhraseToken() }
public struct AppShortcutPhrase: ExpressibleByStringInterpolation, Sendable {
  public struct StringInterpolation: StringInterpolationProtocol, Sendable {
    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) {}
    public mutating func appendInterpolation(_ token: AppShortcutPhraseToken) {}
  }
  public init(stringLiteral value: String) {}
  public init(stringInterpolation: StringInterpolation) {}
}
public struct AppShortcut: Sendable {
  public init(
    intent: some AppIntent, phrases: [AppShortcutPhrase], shortTitle: LocalizedStringResource, systemImageName: String
  ) {}
}
@resultBuilder public enum AppShortcutsBuilder {
  public static func buildBlock(_ shortcuts: AppShortcut...) -> [AppShortcut] { shortcuts }
}
public protocol AppShortcutsProvider { @AppShortcutsBuilder static var appShortcuts: [AppShortcut] { get } }
