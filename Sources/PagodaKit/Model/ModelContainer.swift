// ModelContainer: a model that is loaded when it is first needed, shared by all who need it, and given up on request.

/// Whether a model can be used on this machine.
@frozen
public enum Availability: Hashable, Sendable {
  /// It can; this is the memory it will take.
  case available(MemoryPlan)
  /// It cannot, for this reason.
  case unavailable(PagodaError)
}

/// A model that is loaded when it is first needed and shared by all who need it.
///
/// ```swift
/// let model = ModelContainer(.mini)
/// if case .unavailable(let error) = await model.availability() { print(error.message) }
/// let session = try await model.session(instructions: "Answer briefly.")
/// ```
public actor ModelContainer {
  /// Where the model comes from.
  public nonisolated let source: ModelSource
  /// What its engine is made for.
  public nonisolated let options: EngineOptions

  private var loading: Task<Engine, any Error>?
  private var loaded: Engine?

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

  /// The model's engine, loaded if it is not. Callers at the same time share one load; after a failure the next one tries
  /// again.
  public func engine(progress: (@Sendable (Double) -> Void)? = nil) async throws -> Engine {
    if let loaded { return loaded }
    let task =
      loading ?? Task { [source, options] in try await Engine.load(source, options: options, progress: progress) }
    loading = task
    do {
      let engine = try await task.value
      if loading == task { loaded = engine }  // otherwise it was unloaded meanwhile
      return engine
    } catch {
      if loading == task { loading = nil }
      throw error
    }
  }

  /// Loads the model now, so that the first answer need not wait.
  public func preload(progress: (@Sendable (Double) -> Void)? = nil) async throws {
    _ = try await engine(progress: progress)
  }

  /// Gives the memory back. Requests in flight end as cancelled; sessions made before fail from now on.
  public func unload() async {
    let task = loading
    (loading, loaded) = (nil, nil)
    await (try? await task?.value)?.shutDown()
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
