// OpTime: the device's time per operation.
internal import CxxCore

/// The total time of one kind of operation since the last call.
public struct OpTime: Hashable, Sendable {
  /// The machine limit that bounds an operation.
  public enum Limit: String, Hashable, Sendable, CaseIterable {
    /// Memory bandwidth.
    case read
    /// Products of 8-bit integers.
    case int8
    /// Products of bfloat16 numbers.
    case bf16
    /// Products of float32 numbers.
    case f32
  }

  /// The operation.
  public var name: String
  /// How often it ran.
  public var calls: Int64
  /// Wall-clock time.
  public var seconds: Double
  /// Minimum bytes to read and write.
  public var bytes: Double
  /// Multiplications and additions.
  public var operations: Double
  /// The limit that bounds it.
  public var limit: Limit

  /// Creates one from its values, for tests.
  public init(
    name: String, calls: Int64, seconds: Double, bytes: Double, operations: Double, limit: Limit
  ) {
    self.name = name
    self.calls = calls
    self.seconds = seconds
    self.bytes = bytes
    self.operations = operations
    self.limit = limit
  }
}

extension OpTime {
  init(_ time: pagoda.OpTime) {
    name = String(time.name)
    calls = time.calls
    seconds = time.seconds
    bytes = time.bytes
    operations = time.operations
    switch time.kind {
    case .int8: limit = .int8
    case .bf16: limit = .bf16
    case .f32: limit = .f32
    default: limit = .read
    }
  }
}

extension Engine {
  /// Whether the device times its operations from the next step on; slightly reduces speed.
  public func setProfiling(_ enabled: Bool) { core.engine.set_profiling(enabled, false) }

  /// Whether a GPU times its kernels instead of operations. From the next step on it then runs one launch at a time,
  /// which is much slower. Other devices time their operations, as with ``setProfiling(_:)``.
  public func setKernelProfiling(_ enabled: Bool) { core.engine.set_profiling(enabled, true) }

  /// Totals since the last call, after the step in flight. Empty if profiling is off or not supported by the device.
  public func takeProfile() async -> [OpTime] {
    let core = core
    let times = try? await offCooperativePool { core.engine.take_profile().map { OpTime($0) } }
    return times ?? []
  }
}
