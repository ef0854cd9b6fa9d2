// ModelContainer: a model that is loaded when it is first needed, shared by all callers, and unloaded on request.
internal import Foundation

/// Whether a model can be used on this machine.
@frozen
public enum Availability: Hashable, Sendable {
  /// It can; this is the memory it will take.
  case available(MemoryPlan)
  /// It cannot, for this reason.
  case unavailable(PagodaError)
}

/// A model that is loaded when it is first needed and shared by all callers.
///
/// ```swift
/// let model = ModelContainer(.mini)
/// if case .unavailable(let error) = await model.availability() { print(error.message) }
/// let session = try await model.session(instructions: "Answer briefly.")
/// ```
public actor ModelContainer {
  /// Where the model comes from.
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

  /// The memory that the model will take; reads no weight.
  public nonisolated func memoryEstimate() async throws -> MemoryPlan {
    try await Engine.inspect(source, options: options).plan
  }

  /// Whether the model's files are there and understood, and its memory fits; reads no weight.
  public nonisolated func availability() async -> Availability {
    do {
      return .available(try await memoryEstimate())
    } catch {
      return .unavailable(error as? PagodaError ?? .internal(error.localizedText))
    }
  }

  /// Whether the model is in memory.
  public var isLoaded: Bool { loaded != nil }

  /// Whether it is being loaded.
  public var isLoading: Bool { loading != nil }

  /// The model's engine, loaded if it is not. Callers at the same time share one load, and each sees its progress; after a
  /// failure the next one tries again. A caller that is cancelled stops waiting, and the load ends when no caller is left.
  public func engine(progress: (@Sendable (LoadProgress) -> Void)? = nil) async throws -> Engine {
    if let loaded {
      progress?(LoadProgress(phase: .loading, fraction: 1))
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

  /// Loads the model now, so that the first answer need not wait.
  public func preload(progress: (@Sendable (LoadProgress) -> Void)? = nil) async throws {
    _ = try await engine(progress: progress)
  }

  /// Gives the memory back; a load in progress is cancelled. Requests in flight end as cancelled; sessions made before fail
  /// from now on.
  public func unload() async {
    let (load, engine) = (loading, loaded)
    loaded = nil
    endLoad(.failure(PagodaError.cancelled("the model was unloaded while it was loading")))
    load?.cancel()
    await engine?.shutDown()
    await load?.value
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
          await engine.shutDown()  // it was unloaded, or every caller left, meanwhile
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

  /// A conversation on the model, which is loaded if it is not.
  public func session(
    instructions: String? = nil, tools: [Tool] = [], sampling: SamplingParameters = SamplingParameters(),
    thinking: Bool? = nil
  ) async throws -> ChatSession {
    ChatSession(try await engine(), instructions: instructions, tools: tools, sampling: sampling, thinking: thinking)
  }
}

extension Error {
  fileprivate var localizedText: String { String(describing: self) }
}

/// Passes the progress of a load on to all callers that wait for it; a late one begins with the last report. Callbacks run under the
/// lock, so that no caller sees an older report after a newer one.
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
