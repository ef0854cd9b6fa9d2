// Loading and inspecting models; both block inside the core, so they run outside the cooperative pool.
internal import CxxCore
internal import Foundation

extension Engine {
  /// Loads a model and starts its thread. Cancelling the task ends the load within a few rows of weights and throws
  /// `CancellationError`.
  /// - Parameters:
  ///   - source: the origin of the model.
  ///   - options: the options of the engine.
  ///   - progress: called with the progress, on a thread of the loader.
  public static func load(
    _ source: ModelSource, options: EngineOptions = EngineOptions(),
    progress: (@Sendable (LoadProgress) -> Void)? = nil
  ) async throws -> Engine {
    let source = try await source.here(progress)
    let watcher = LoadWatcher(progress)
    return try await withTaskCancellationHandler {
      try await offCooperativePool {
        let coreOptions = try options.core()
        var status = pagoda.Status()
        let engine = withExtendedLifetime(watcher) {
          pagoda.load_engine(
            source.core, coreOptions, continueLoad, Unmanaged.passUnretained(watcher).toOpaque(), &status)
        }
        try status.throwIfError(naming: options.fieldNames)
        guard let engine else { throw PagodaError.internal("the model did not load and gave no reason") }
        return Engine(engine)
      }
    } onCancel: {
      watcher.cancel()
    }
  }

  /// Describes a model and plans its memory, without loading weights and without downloading anything: a model that is
  /// not on this machine is an error.
  public static func inspect(
    _ source: ModelSource, options: EngineOptions = EngineOptions()
  ) async throws -> ModelInfo {
    let source = try source.present()
    return try await offCooperativePool {
      let result = try pagoda.inspect_model(source.core, options.core())
      try result.status.throwIfError(naming: options.fieldNames)
      return ModelInfo(result.info)
    }
  }
}

/// Carries progress out of the core, and cancellation in.
private final class LoadWatcher: @unchecked Sendable {
  private let report: (@Sendable (LoadProgress) -> Void)?
  private let lock = NSLock()
  private var isCancelled = false

  init(_ report: (@Sendable (LoadProgress) -> Void)?) { self.report = report }

  func cancel() { lock.withLock { isCancelled = true } }

  func show(_ bytes: Int64, of total: Int64) -> Bool {
    report?(LoadProgress(loadedBytes: bytes, of: total))
    return lock.withLock { !isCancelled }
  }
}

private func continueLoad(_ context: UnsafeMutableRawPointer?, _ bytes: Int64, _ total: Int64) -> Bool {
  guard let context else { return true }
  return Unmanaged<LoadWatcher>.fromOpaque(context).takeUnretainedValue().show(bytes, of: total)
}

extension LoadProgress {
  init(loadedBytes bytes: Int64, of total: Int64) {
    self.init(phase: .loading, fraction: total > 0 ? Double(bytes) / Double(total) : 1)
    (loadedBytes, totalBytes) = (bytes, total)
  }
}
