// MemoryPressure: the system's requests to use less memory.
import Dispatch

/// How urgently the system asks for memory.
public enum MemoryPressure: Hashable, Sendable {
  /// Memory is getting short: give up what can be computed again.
  case warning
  /// Programs are about to be ended: give up what can be loaded again.
  case critical
}

/// Reports memory pressure.
public protocol MemoryWatch: Sendable {
  /// Calls `report` on any thread, as long as the returned value exists.
  func begin(_ report: @escaping @Sendable (MemoryPressure) -> Void) -> (any Sendable)?
}

/// The system's own reports; none outside Apple's systems.
public struct SystemMemoryWatch: MemoryWatch {
  /// The system of this process.
  public init() {}

  #if canImport(Darwin)
  private final class Source: @unchecked Sendable {
    let source: any DispatchSourceMemoryPressure
    init(_ source: any DispatchSourceMemoryPressure) { self.source = source }
    deinit { source.cancel() }
  }

  /// Warnings of the kernel, on macOS and iOS.
  public func begin(_ report: @escaping @Sendable (MemoryPressure) -> Void) -> (any Sendable)? {
    let source = DispatchSource.makeMemoryPressureSource(
      eventMask: [.warning, .critical], queue: .global(qos: .userInitiated))
    let held = Source(source)
    source.setEventHandler { [weak held] in
      if let held { report(held.source.data.contains(.critical) ? .critical : .warning) }
    }
    source.activate()
    return held
  }
  #else
  /// Nothing: there are no reports.
  public func begin(_ report: @escaping @Sendable (MemoryPressure) -> Void) -> (any Sendable)? { nil }
  #endif
}
