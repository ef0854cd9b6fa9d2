// A stub of AppIntents for Linux, for type checking only: the parts that the app uses, with the generic
// parameters, constraints and defaults from Apple's documentation.
@_exported import Foundation

public struct LocalizedStringResource: ExpressibleByStringLiteral, Sendable {
  public init(stringLiteral value: String) {}
}
public struct IntentDescription: ExpressibleByStringLiteral, Sendable {
  public init(stringLiteral value: String) {}
  public init(
    _ descriptionText: LocalizedStringResource, categoryName: LocalizedStringResource? = nil,
    searchKeywords: [LocalizedStringResource] = []
  ) {}
}
public struct IntentDialog: ExpressibleByStringLiteral, Sendable {
  public init(stringLiteral value: String) {}
  public init(_ text: LocalizedStringResource) {}
}

/// The types of parameters and results; the app has only texts.
public protocol _IntentValue {
  associatedtype ValueType
  associatedtype UnwrappedType
}
extension String: _IntentValue {
  public typealias ValueType = String
  public typealias UnwrappedType = String
}
extension Never: _IntentValue {
  public typealias ValueType = Never
  public typealias UnwrappedType = Never
}

public protocol PersistentlyIdentifiable { static var persistentIdentifier: String { get } }
extension PersistentlyIdentifiable { public static var persistentIdentifier: String { "" } }

public protocol AppIntent: PersistentlyIdentifiable, Sendable {
  associatedtype PerformResult: IntentResult
  static var title: LocalizedStringResource { get }
  static var description: IntentDescription? { get }
  static var openAppWhenRun: Bool { get }
  init()
  func perform() async throws -> PerformResult
}
extension AppIntent {
  public typealias Parameter<Value: _IntentValue & Sendable> = IntentParameter<Value>
  public static var description: IntentDescription? { nil }
  public static var openAppWhenRun: Bool { false }
}
extension Never: AppIntent {
  public static var title: LocalizedStringResource { "" }
  public init() { fatalError() }
  public func perform() async throws -> IntentResultContainer<Never, Never, Never, Never> { fatalError() }
}

public protocol IntentResult: Sendable {
  associatedtype Value: _IntentValue
  var value: Value? { get }
}
public protocol ReturnsValue<Value>: IntentResult {}
public protocol ProvidesDialog: IntentResult { var dialog: IntentDialog? { get } }
public struct IntentResultContainer<Value: _IntentValue & Sendable, OpensAppIntent: AppIntent, Snippet, Dialog>:
  ReturnsValue
{
  public var value: Value? { nil }
  public var dialog: IntentDialog? { nil }
}
extension IntentResultContainer: ProvidesDialog where Dialog == IntentDialog {}

extension IntentResult {
  public static func result<Value: _IntentValue>(value: Value, dialog: IntentDialog) -> Self
  where Self == IntentResultContainer<Value, Never, Never, IntentDialog> { IntentResultContainer() }
}

@propertyWrapper public final class IntentParameter<Value: _IntentValue & Sendable>: Sendable {
  public var wrappedValue: Value {
    get { fatalError() }
    set {}
  }
  public var projectedValue: IntentParameter<Value> { self }
  init(stub: Void) {}
}
extension String { public struct IntentInputOptions: Sendable {} }
public enum InputConnectionBehavior: Sendable { case `default`, never, connectToPreviousIntentResult }
extension IntentParameter where Value.ValueType == String {
  public convenience init(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil,
    default defaultValue: Value.UnwrappedType? = nil, inputOptions: String.IntentInputOptions? = nil,
    requestValueDialog: IntentDialog? = nil, inputConnectionBehavior: InputConnectionBehavior = .default
  ) { fatalError() }
}

public enum AppShortcutPhraseToken: Hashable, Sendable { case applicationName }
public struct AppShortcutPhrase<Intent: AppIntent>: ExpressibleByStringInterpolation, Sendable {
  public struct StringInterpolation: StringInterpolationProtocol, Sendable {
    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) {}
    public mutating func appendInterpolation(_ token: AppShortcutPhraseToken) {}
  }
  public init(_ value: String) {}
  public init(stringLiteral value: String) {}
  public init(stringInterpolation: StringInterpolation) {}
}
public struct AppShortcut: Sendable {
  public init<Intent: AppIntent>(
    intent: Intent, phrases: [AppShortcutPhrase<Intent>], shortTitle: LocalizedStringResource, systemImageName: String
  ) {}
}
@resultBuilder public enum AppShortcutsBuilder {
  public static func buildExpression(_ shortcut: AppShortcut) -> AppShortcut { shortcut }
  public static func buildBlock(_ shortcuts: AppShortcut...) -> [AppShortcut] { shortcuts }
}
public protocol AppShortcutsProvider { @AppShortcutsBuilder static var appShortcuts: [AppShortcut] { get } }
