// A stub of Carbon's keys of the whole system for Linux, for type checking only.

public typealias OSStatus = Int32
public typealias OSType = UInt32
public typealias OptionBits = UInt32
public typealias EventTargetRef = OpaquePointer
public typealias EventHotKeyRef = OpaquePointer
public typealias EventHandlerRef = OpaquePointer
public typealias EventHandlerCallRef = OpaquePointer
public typealias EventRef = OpaquePointer
public typealias EventHandlerUPP =
  @convention(c) (EventHandlerCallRef?, EventRef?, UnsafeMutableRawPointer?) -> OSStatus

public let (kVK_Space, optionKey, noErr, kEventClassKeyboard, kEventHotKeyPressed) = (49, 2048, 0, 0x6B65_7962, 5)

public struct EventHotKeyID {
  public init(signature: OSType, id: UInt32) {}
}

public struct EventTypeSpec {
  public init(eventClass: OSType, eventKind: UInt32) {}
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public func GetApplicationEventTarget() -> EventTargetRef! { nil }

// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func RegisterEventHotKey(
  _ code: UInt32, _ modifiers: UInt32, _ id: EventHotKeyID, _ target: EventTargetRef!, _ options: OptionBits,
  _ key: UnsafeMutablePointer<EventHotKeyRef?>!
) -> OSStatus { 0 }

// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func UnregisterEventHotKey(_ key: EventHotKeyRef!) -> OSStatus { 0 }

// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult public func InstallEventHandler(
  _ target: EventTargetRef!, _ handler: EventHandlerUPP!, _ count: Int, _ kinds: UnsafePointer<EventTypeSpec>!,
  _ data: UnsafeMutableRawPointer!, _ reference: UnsafeMutablePointer<EventHandlerRef?>!
) -> OSStatus { 0 }
