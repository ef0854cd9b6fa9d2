// MachineLimits: the measured limits of this machine.
internal import CxxCore

/// The measured limits of this machine with a number of threads, or of its GPU, for comparison with the speed of a
/// model.
///
/// ```swift
/// let limits = try await MachineLimits.measure()
/// print(limits)
/// ```
public struct MachineLimits: Hashable, Sendable {
  /// An arithmetic peak.
  public struct Peak: Hashable, Sendable {
    /// Multiplications and additions per second.
    public var operationsPerSecond: Double
    /// The instruction, or the GPU kernel, that reached it.
    public var instruction: String

    /// A peak, for tests.
    public init(operationsPerSecond: Double, instruction: String) {
      self.operationsPerSecond = operationsPerSecond
      self.instruction = instruction
    }
  }

  /// Number of threads; 0 for a GPU.
  public var threadCount: Int
  /// Memory bandwidth for data much larger than the caches: of reads, and on a GPU of reads and writes together.
  public var readBytesPerSecond: Double
  /// Products of 8-bit integers.
  public var int8: Peak
  /// Products of bfloat16 numbers; never below `f32`.
  public var bf16: Peak
  /// Products of float32 numbers.
  public var f32: Peak

  /// Limits, for tests.
  public init(threadCount: Int, readBytesPerSecond: Double, int8: Peak, bf16: Peak, f32: Peak) {
    self.threadCount = threadCount
    self.readBytesPerSecond = readBytesPerSecond
    self.int8 = int8
    self.bf16 = bf16
    self.f32 = f32
  }

  /// Measures for about a second, with 512 MiB of memory. Other work on the machine makes the limits look lower.
  /// - Parameter threadCount: nil means one per core.
  public static func measure(threadCount: Int? = nil) async throws -> MachineLimits {
    try await offCooperativePool {
      let limits = pagoda.measure_limits(Int32(clamping: threadCount ?? 0))
      try limits.status.throwIfError()
      return MachineLimits(limits)
    }
  }

  /// Measures the copies and the matrix products of a device that runs kernels. Throws for other devices.
  public static func measure(_ device: EngineOptions.Device, threadCount: Int? = nil) async throws -> MachineLimits {
    try await offCooperativePool {
      let limits = pagoda.measure_device_limits(std.string(device.description), Int32(clamping: threadCount ?? 0))
      try limits.status.throwIfError()
      return MachineLimits(limits)
    }
  }
}

extension MachineLimits {
  init(_ limits: pagoda.MachineLimits) {
    threadCount = Int(limits.num_threads)
    readBytesPerSecond = limits.read_bytes_per_second
    int8 = Peak(operationsPerSecond: limits.int8_ops_per_second, instruction: String(limits.int8_instruction))
    bf16 = Peak(operationsPerSecond: limits.bf16_ops_per_second, instruction: String(limits.bf16_instruction))
    f32 = Peak(operationsPerSecond: limits.f32_ops_per_second, instruction: String(limits.f32_instruction))
  }
}
