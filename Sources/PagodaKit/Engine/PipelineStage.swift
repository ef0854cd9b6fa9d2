// PipelineStage: a rank other than the first of a model that runs on several machines.
internal import CxxCore
internal import Foundation

/// A machine that runs some layers of a model for an engine with ``EngineOptions/pipeline``.
///
/// ```swift
/// let model = ModelSource.folder(path: "Models/Qwen3.5-9B")
/// try await PipelineStage.run(model, options: EngineOptions(), address: ":9000") { print($0) }
/// ```
public enum PipelineStage {
  /// Serves one engine after another. Throws if it cannot start; returns only under MPI, when the first rank has ended.
  /// - Parameters:
  ///   - source: the model, the same as the engine's.
  ///   - options: only the device, threads, weight cache and pipeline timeout are used.
  ///   - address: the address to listen on, as `host:port`; nil under MPI.
  ///   - log: receives a line when the state changes, on a thread of the stage.
  public static func run(
    _ source: ModelSource, options: EngineOptions, address: String?, log: @escaping @Sendable (String) -> Void
  ) async throws {
    let source = try await source.here()
    let logger = StageLogger(log)
    try await offCooperativePool {
      let coreOptions = try options.core()
      let status = withExtendedLifetime(logger) {
        pagoda.run_stage(
          source.core, coreOptions, std.string(address ?? "mpi"), writeStageLine,
          Unmanaged.passUnretained(logger).toOpaque())
      }
      try status.throwIfError(naming: options.fieldNames)
    }
  }

  /// This process's rank among those started by mpirun; rank 0 has the engine. Throws if there is no Open MPI.
  public static func mpiRank() throws -> Int {
    let found = pagoda.find_mpi_rank()
    try found.status.throwIfError()
    return Int(found.rank)
  }
}

private final class StageLogger: Sendable {
  let write: @Sendable (String) -> Void
  init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }
}

private func writeStageLine(_ context: UnsafeMutableRawPointer?, _ line: UnsafePointer<CChar>) {
  guard let context else { return }
  Unmanaged<StageLogger>.fromOpaque(context).takeUnretainedValue().write(String(cString: line))
}
