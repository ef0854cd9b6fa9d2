// The part of Apple's XCTest that UI tests use and that the XCTest of Linux does not have, for type-checking only.
import Foundation

@MainActor
open class XCTestCase: NSObject {
  public override nonisolated init() {}
  public var continueAfterFailure: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  public func measure(metrics: [any XCTMetric], block: () -> Void) { fatalError() }
}

public protocol XCTMetric {}

public final class XCTApplicationLaunchMetric: XCTMetric {
  public init() {}
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public func XCTAssertTrue(
  _ expression: @autoclosure () throws -> Bool, _ message: @autoclosure () -> String = "",
  file: StaticString = #filePath,
  line: UInt = #line
) { fatalError() }

// swift-format-ignore: AlwaysUseLowerCamelCase
public func XCTAssertFalse(
  _ expression: @autoclosure () throws -> Bool, _ message: @autoclosure () -> String = "",
  file: StaticString = #filePath,
  line: UInt = #line
) { fatalError() }

@MainActor
open class XCUIElement: NSObject {
  public override nonisolated init() {}
  public var exists: Bool { fatalError() }
  public var isEnabled: Bool { fatalError() }
  public var label: String { fatalError() }
  public var value: Any? { fatalError() }
  public var buttons: XCUIElementQuery { fatalError() }
  public var sheets: XCUIElementQuery { fatalError() }
  public var staticTexts: XCUIElementQuery { fatalError() }
  public var textFields: XCUIElementQuery { fatalError() }

  public func click() { fatalError() }
  public func typeText(_ text: String) { fatalError() }
  public func typeKey(_ key: String, modifierFlags: XCUIElement.KeyModifierFlags) { fatalError() }
  public func typeKey(_ key: XCUIKeyboardKey, modifierFlags: XCUIElement.KeyModifierFlags) { fatalError() }
  public func waitForExistence(timeout: TimeInterval) -> Bool { fatalError() }
  public func waitForNonExistence(timeout: TimeInterval) -> Bool { fatalError() }

  public struct KeyModifierFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let command = KeyModifierFlags(rawValue: 1)
    public static let option = KeyModifierFlags(rawValue: 2)
    public static let shift = KeyModifierFlags(rawValue: 4)
  }
}

public struct XCUIKeyboardKey: RawRepresentable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public static let delete = XCUIKeyboardKey(rawValue: "")
  public static let escape = XCUIKeyboardKey(rawValue: "")
  public static let `return` = XCUIKeyboardKey(rawValue: "")
}

@MainActor
open class XCUIElementQuery: NSObject {
  public override nonisolated init() {}
  public subscript(key: String) -> XCUIElement { fatalError() }
  public var buttons: XCUIElementQuery { fatalError() }
  public var firstMatch: XCUIElement { fatalError() }
  public var count: Int { fatalError() }
}

@MainActor
open class XCUIApplication: XCUIElement {
  public override nonisolated init() {}
  public var launchArguments: [String] {
    get { fatalError() }
    set { fatalError() }
  }
  public var launchEnvironment: [String: String] {
    get { fatalError() }
    set { fatalError() }
  }
  public func launch() { fatalError() }
  public func terminate() { fatalError() }
}
