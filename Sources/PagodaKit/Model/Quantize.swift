// Writes a quantised copy of a model.
internal import CxxCore
internal import Foundation

/// The result of writing a quantised model.
public struct QuantizeReport: Hashable, Sendable {
  /// Bytes of all tensors before.
  public var inputBytes: Int64
  /// Bytes of the weight files after.
  public var outputBytes: Int64
  /// Quantised matrices; other tensors are copied unchanged.
  public var quantizedCount: Int
  /// Of these, the matrices of a mixed model that have 8 bits.
  public var wideCount = 0
  /// Weight files written.
  public var fileCount: Int

  /// Creates one from its values, for tests.
  public init(
    inputBytes: Int64, outputBytes: Int64, quantizedCount: Int, fileCount: Int
  ) {
    self.inputBytes = inputBytes
    self.outputBytes = outputBytes
    self.quantizedCount = quantizedCount
    self.fileCount = fileCount
  }
}

extension ModelSource {
  /// Writes the model with affine weights of 4 or 8 bits in MLX's format: safetensors, configuration, tokenizer and
  /// template. The folder appears only when complete; cancelling the task leaves nothing behind.
  /// - Parameters:
  ///   - folder: must not exist, or must be empty.
  ///   - bits: 4 or 8.
  ///   - groupSize: number of weights that share a scale: 32, 64 or 128.
  ///   - mixed: with 4 bits, 8 for the matrices whose rounding changes answers most: embeddings, the output matrix, and
  ///     the down, value and recurrent output projections of some layers.
  ///   - progress: called with a fraction from 0 to 1, on a thread of the writer.
  public func quantize(
    to folder: String, bits: Int, groupSize: Int = 64, mixed: Bool = false,
    progress: (@Sendable (Double) -> Void)? = nil
  ) async throws -> QuantizeReport {
    let source = try await here()
    let watcher = QuantizeWatcher(progress)
    return try await withTaskCancellationHandler {
      try await offCooperativePool {
        var options = pagoda.QuantizeOptions()
        options.bits = Int32(clamping: bits)
        options.group_size = Int32(clamping: groupSize)
        options.is_mixed = mixed
        let result = withExtendedLifetime(watcher) {
          pagoda.quantize_model(
            source.core, std.string(folder), options, goOn, Unmanaged.passUnretained(watcher).toOpaque())
        }
        if result.status.code == .cancelled { throw CancellationError() }
        try result.status.throwIfError()
        var report = QuantizeReport(
          inputBytes: result.input_bytes, outputBytes: result.output_bytes, quantizedCount: Int(result.num_quantized),
          fileCount: Int(result.num_files))
        report.wideCount = Int(result.num_wide)
        return report
      }
    } onCancel: {
      watcher.cancel()
    }
  }
}

/// Carries progress out of the core, and cancellation in.
private final class QuantizeWatcher: @unchecked Sendable {
  let report: (@Sendable (Double) -> Void)?
  private let lock = NSLock()
  private var isCancelled = false

  init(_ report: (@Sendable (Double) -> Void)?) { self.report = report }

  func cancel() { lock.withLock { isCancelled = true } }

  func show(_ fraction: Double) -> Bool {
    report?(fraction)
    return lock.withLock { !isCancelled }
  }
}

private func goOn(_ context: UnsafeMutableRawPointer?, _ fraction: Double) -> Bool {
  guard let context else { return true }
  return Unmanaged<QuantizeWatcher>.fromOpaque(context).takeUnretainedValue().show(fraction)
}
