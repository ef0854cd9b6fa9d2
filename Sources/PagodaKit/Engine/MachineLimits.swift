// MachineLimits: what this machine can do at most, measured.
internal import CxxCore

/// The measured limits of this machine with a number of threads, or of its GPU, which the speed of a model is compared
/// with.
public struct MachineLimits: Hashable, Sendable {
  /// A peak of arithmetic.
  public struct Peak: Hashable, Sendable {
    /// Multiplications and additions.
    public var operationsPerSecond: Double
    /// The instruction that reached it, or the kernel of a GPU.
    public var instruction: String
  }

  /// Threads that worked together; 0 for a GPU.
  public var threadCount: Int
  /// Reading memory, far beyond the caches; of a GPU reading and writing it.
  public var readBytesPerSecond: Double
  /// Products of 8-bit integers.
  public var int8: Peak
  /// Products of bfloat16 numbers; never below `f32`.
  public var bf16: Peak
  /// Products of float32 numbers.
  public var f32: Peak

  /// Measures for about a second, with 512 MiB of memory. Other work on the machine makes the limits look lower.
  /// - Parameter threadCount: nil means one per core.
  public static func measure(threadCount: Int? = nil) async throws -> MachineLimits {
    try await offCooperativePool {
      let limits = pagoda.measure_limits(Int32(clamping: threadCount ?? 0))
      try limits.status.throwIfError()
      return MachineLimits(limits)
    }
  }

  /// Measures the copies and the matrix products of a device that runs kernels. Other devices are an error.
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
