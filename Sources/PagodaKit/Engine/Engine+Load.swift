// Loading and inspecting models; both block inside the core, so both leave the cooperative pool.
internal import CxxCore

extension Engine {
  /// Loads a model and starts its thread.
  /// - Parameters:
  ///   - source: where the model comes from.
  ///   - options: what the engine is made for.
  ///   - progress: called with a fraction from 0 to 1, on a thread of the loader.
  public static func load(
    _ source: ModelSource, options: EngineOptions = EngineOptions(), progress: (@Sendable (Double) -> Void)? = nil
  ) async throws -> Engine {
    try await offCooperativePool {
      let reporter = progress.map { ProgressReporter($0) }
      let context = reporter.map { Unmanaged.passUnretained($0).toOpaque() }
      let options = try options.core()
      var status = pagoda.Status()
      let engine = withExtendedLifetime(reporter) {
        pagoda.load_engine(source.core, options, reportProgress, context, &status)
      }
      try status.throwIfError()
      guard let engine else { throw PagodaError.internal("the model did not load and gave no reason") }
      return Engine(engine)
    }
  }

  /// Describes a model and plans its memory without loading a weight.
  public static func inspect(
    _ source: ModelSource, options: EngineOptions = EngineOptions()
  ) async throws -> ModelInfo {
    try await offCooperativePool {
      let result = try pagoda.inspect_model(source.core, options.core())
      try result.status.throwIfError()
      return ModelInfo(result.info)
    }
  }
}

private final class ProgressReporter: Sendable {
  let report: @Sendable (Double) -> Void

  init(_ report: @escaping @Sendable (Double) -> Void) { self.report = report }
}

private func reportProgress(_ context: UnsafeMutableRawPointer?, _ fraction: Double) {
  guard let context else { return }
  Unmanaged<ProgressReporter>.fromOpaque(context).takeUnretainedValue().report(fraction)
}
