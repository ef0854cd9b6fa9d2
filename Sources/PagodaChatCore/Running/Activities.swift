// Activities: work that the system must not slow down while no window of the app is visible.
import Foundation

/// Work that the system must not slow down, such as serving other programs while all windows are hidden.
public protocol Activities: Sendable {
  /// The activity, until it is given to ``end(_:)``.
  func begin(_ reason: String) -> any Sendable
  /// Ends it.
  func end(_ activity: any Sendable)
}

/// The system's: without an activity, App Nap delays the timers and the input of an app without visible windows.
public struct SystemActivities: Activities {
  #if canImport(Darwin)
  private struct Held: @unchecked Sendable { let object: any NSObjectProtocol }
  #endif

  /// The system of this process.
  public init() {}

  /// Other systems slow nothing down.
  public func begin(_ reason: String) -> any Sendable {
    #if canImport(Darwin)
    Held(object: ProcessInfo.processInfo.beginActivity(options: .userInitiated, reason: reason))
    #else
    reason
    #endif
  }

  /// Lets the system slow the app down again.
  public func end(_ activity: any Sendable) {
    #if canImport(Darwin)
    if let held = activity as? Held { ProcessInfo.processInfo.endActivity(held.object) }
    #endif
  }
}
