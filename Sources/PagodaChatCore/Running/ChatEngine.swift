// What the app needs of an engine, of loading one and of downloading models; protocols, so that tests need no weights.
import PagodaKit

/// A loaded model, as the app uses it. ``Engine`` is one.
public protocol ChatEngine: Sendable {
  /// Answers a request; dropping the stream cancels it.
  func submit(_ request: Request) -> AsyncThrowingStream<Event, any Error>
  /// Longest conversation in tokens.
  var contextLength: Int { get }
  /// What it is doing now.
  var load: EngineLoad { get }
  /// Ends every request and frees the memory.
  func shutDown() async
}

/// What an engine is doing now.
public struct EngineLoad: Hashable, Sendable {
  /// Requests that run.
  public var running = 0
  /// Requests that wait for room.
  public var waiting = 0
  /// KV blocks in use by running requests.
  public var usedBlocks: Int64 = 0
  /// KV blocks in all.
  public var blocks: Int64 = 0
  /// KV blocks whose content may be reused.
  public var cachedBlocks: Int64 = 0

  /// An engine that does nothing.
  public init() {}
}

extension Engine: ChatEngine {
  /// The longest sequence of the memory plan.
  public var contextLength: Int { info.plan.maximumModelLength }

  /// The engine's statistics as the status bar shows them.
  public var load: EngineLoad {
    let statistics = statistics
    var load = EngineLoad()
    load.running = statistics.running
    load.waiting = statistics.waiting
    load.usedBlocks = statistics.blocks - statistics.freeBlocks
    load.blocks = statistics.blocks
    load.cachedBlocks = statistics.prefixCache.cachedBlocks
    return load
  }
}

/// What a model would take, told before it is loaded. Sizes in bytes.
public struct MemoryEstimate: Hashable, Sendable {
  /// The weights.
  public var weightsBytes: Int64
  /// KV cache, recurrent states and workspace.
  public var workingBytes: Int64
  /// What the device allows.
  public var limitBytes: Int64

  /// An estimate.
  public init(weightsBytes: Int64, workingBytes: Int64, limitBytes: Int64) {
    self.weightsBytes = weightsBytes
    self.workingBytes = workingBytes
    self.limitBytes = limitBytes
  }

  /// Everything together.
  public var totalBytes: Int64 { weightsBytes + workingBytes }
  /// Whether it fits.
  public var fits: Bool { totalBytes <= limitBytes }
}

/// Loads models.
public protocol ModelLoader: Sendable {
  /// Loads a model. `progress` gets fractions from 0 to 1 on any thread.
  func load(_ source: ModelSource, progress: @escaping @Sendable (Double) -> Void) async throws -> any ChatEngine
  /// What a model would take; reads no weight.
  func estimate(_ source: ModelSource) async throws -> MemoryEstimate
}

/// Loads models with PagodaKit.
public struct EngineLoader: ModelLoader {
  /// What engines are made for.
  public var options: EngineOptions

  /// A loader with the given options.
  public init(options: EngineOptions = EngineOptions()) { self.options = options }

  /// Loads a model and starts its engine.
  public func load(
    _ source: ModelSource, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> any ChatEngine {
    try await Engine.load(source, options: options, progress: progress)
  }

  /// The engine's memory plan.
  public func estimate(_ source: ModelSource) async throws -> MemoryEstimate {
    let plan = try await Engine.inspect(source, options: options).plan
    return MemoryEstimate(
      weightsBytes: plan.weightsBytes, workingBytes: plan.totalBytes - plan.weightsBytes,
      limitBytes: plan.deviceLimitBytes)
  }
}
