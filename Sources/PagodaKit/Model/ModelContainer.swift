// ModelContainer: a model that is loaded when it is first needed, shared by all callers, and unloaded on request.
internal import Foundation

/// Whether a model can be used on this machine.
///
/// ```swift
/// switch await model.availability() {
/// case .available(let plan): print("needs \(plan.totalBytes >> 20) MiB")
/// case .notDownloaded(let bytes): print("download:", bytes ?? 0)
/// case .unavailable(let error): print(error.message)
/// @unknown default: break
/// }
/// ```
public enum Availability: Hashable, Sendable {
  /// It can; the plan has the memory it needs.
  case available(MemoryPlan)
  /// It has not been downloaded yet; the bytes of the download, or nil if its origin did not tell.
  case notDownloaded(bytes: Int64?)
  /// It cannot, for this reason.
  case unavailable(PagodaError)
}

/// A model that is loaded when it is first needed and shared by all callers.
///
/// ```swift
/// let model = ModelContainer(.mini)
/// switch await model.availability() {
/// case .available(let plan): print("needs \(plan.totalBytes) bytes of memory")
/// case .notDownloaded: try await model.fetch { print($0.fraction) }
/// case .unavailable(let error): print(error.message)
/// @unknown default: break
/// }
/// let session = try await model.session(instructions: "Answer briefly.")
/// ```
public actor ModelContainer {
  /// The origin of the model.
  public nonisolated let source: ModelSource
  /// The options of its engine.
  public nonisolated let options: EngineOptions

  private var loading: Task<Void, Never>?
  private var loaded: Engine?
  private var waiters: [Int: CheckedContinuation<Engine, any Error>] = [:]
  private var waiterCount = 0
  private var relay = ProgressRelay()  // of the current load

  /// A model that is not loaded yet.
  public init(_ source: ModelSource, options: EngineOptions = EngineOptions()) {
    self.source = source
    self.options = options
  }

  /// The memory that the model needs; reads no weights and downloads nothing.
  public nonisolated func memoryEstimate() async throws -> MemoryPlan {
    try await Engine.inspect(source, options: options).plan
  }

  /// Whether the model's files are present and supported, and its memory fits. Reads no weights and downloads nothing;
  /// if the files are missing, their size is asked for at the model's origin.
  public nonisolated func availability() async -> Availability {
    do {
      if case .fetched(let model) = source, try model.presentPath() == nil {
        return .notDownloaded(bytes: try? await model.size())
      }
      return .available(try await memoryEstimate())
    } catch {
      return .unavailable(error as? PagodaError ?? .internal(String(describing: error)))
    }
  }

  /// Downloads the model's files if they are missing, without loading them.
  /// - Parameter progress: called with the progress, on any thread.
  public nonisolated func fetch(progress: (@Sendable (LoadProgress) -> Void)? = nil) async throws {
    _ = try await source.here(progress)
  }

  /// Whether the model is in memory.
  public var isLoaded: Bool { loaded != nil }

  /// Whether it is being loaded.
  public var isLoading: Bool { loading != nil }

  /// The model's engine, loaded if necessary. Concurrent callers share one load, and each sees its progress; after a
  /// failure the next caller tries again. A cancelled caller stops waiting, and the load ends when no caller is left.
  public func engine(progress: (@Sendable (LoadProgress) -> Void)? = nil) async throws -> Engine {
    if let loaded {
      let bytes = loaded.info.allMatrices.bytes
      progress?(LoadProgress(loadedBytes: bytes, of: bytes))
      return loaded
    }
    waiterCount += 1
    let id = waiterCount
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
        waiters[id] = continuation
        if loading == nil { begin() }
        if let progress { relay.add(id, progress) }
      }
    } onCancel: {
      Task { await self.leave(id) }
    }
  }

  /// Loads the model now, so that the first answer does not have to wait.
  public func preload(progress: (@Sendable (LoadProgress) -> Void)? = nil) async throws {
    _ = try await engine(progress: progress)
  }

  /// Frees the memory and ends a load in progress. What is running fails with ``PagodaError/shutDown(_:)``: requests,
  /// callers that wait for the load, and existing sessions from now on.
  public func unload() async {
    let (load, engine) = (loading, loaded)
    loaded = nil
    endLoad(.failure(PagodaError.shutDown("the model was unloaded while it was loading")))
    load?.cancel()
    await engine?.shutDown()
    await load?.value
  }

  /// Unloads the model if it is loaded and answers nothing, for example when the system reports memory pressure. The
  /// next caller loads it again. Returns whether memory was freed.
  @discardableResult
  public func unloadIfIdle() async -> Bool {
    guard let statistics = loaded?.statistics, statistics.running + statistics.waiting == 0 else { return false }
    await unload()
    return true
  }

  private func begin() {
    let relay = ProgressRelay()
    self.relay = relay
    loading = Task { [source, options] in
      do {
        let engine = try await Engine.load(source, options: options) { relay.send($0) }
        if self.relay === relay {
          loaded = engine
          endLoad(.success(engine))
        } else {
          await engine.shutDown()  // in the meantime it was unloaded, or every caller was cancelled
        }
      } catch {
        if self.relay === relay { endLoad(.failure(error)) }
      }
    }
  }

  private func endLoad(_ result: Result<Engine, any Error>) {
    let ended = waiters.values
    (loading, waiters, relay) = (nil, [:], ProgressRelay())
    for waiter in ended { waiter.resume(with: result) }
  }

  private func leave(_ id: Int) {
    guard let waiter = waiters.removeValue(forKey: id) else { return }
    relay.remove(id)
    waiter.resume(throwing: CancellationError())
    guard waiters.isEmpty else { return }
    loading?.cancel()
    endLoad(.failure(CancellationError()))
  }

  /// A conversation on the model, which is loaded if necessary.
  public func session(
    instructions: String? = nil, tools: [Tool] = [], sampling: SamplingParameters = SamplingParameters(),
    thinking: Bool? = nil
  ) async throws -> ChatSession {
    ChatSession(try await engine(), instructions: instructions, tools: tools, sampling: sampling, thinking: thinking)
  }
}

/// Forwards the progress of a load to all waiting callers; a late caller starts with the last report. Callbacks run
/// while holding the lock, so that no caller sees an older report after a newer one.
private final class ProgressRelay: @unchecked Sendable {
  private let lock = NSLock()
  // Guarded by `lock`.
  private var watchers: [Int: @Sendable (LoadProgress) -> Void] = [:]
  private var last: LoadProgress?

  func add(_ id: Int, _ watcher: @escaping @Sendable (LoadProgress) -> Void) {
    lock.withLock {
      watchers[id] = watcher
      if let last { watcher(last) }
    }
  }

  func remove(_ id: Int) { lock.withLock { watchers[id] = nil } }

  func send(_ progress: LoadProgress) {
    lock.withLock {
      last = progress
      for watcher in watchers.values { watcher(progress) }
    }
  }
}
