// PipelineStage: a rank after the first of a model that several machines run together.
internal import CxxCore
internal import Foundation

/// A machine that runs some layers of a model for an engine with ``EngineOptions/pipeline``.
public enum PipelineStage {
  /// Serves one engine after another; returns only when it cannot start or, under MPI, when the first rank has ended.
  /// - Parameters:
  ///   - source: the model, the same as the engine's.
  ///   - options: of these the device, threads, weight cache and pipeline time-out count.
  ///   - address: where to listen, as `host:port`; nil under MPI.
  ///   - log: gets a line when something changes, on a thread of the stage.
  public static func run(
    _ source: ModelSource, options: EngineOptions, address: String?, log: @escaping @Sendable (String) -> Void
  ) async throws {
    let source = try await source.here()
    let logger = StageLogger(log)
    try await offCooperativePool {
      let options = try options.core()
      let status = withExtendedLifetime(logger) {
        pagoda.run_stage(
          source.core, options, std.string(address ?? "mpi"), writeStageLine,
          Unmanaged.passUnretained(logger).toOpaque())
      }
      try status.throwIfError()
    }
  }

  /// This process among those that mpirun started; 0 is the one with the engine. Throws where there is no Open MPI.
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
