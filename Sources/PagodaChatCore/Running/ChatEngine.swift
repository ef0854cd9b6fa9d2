// Interfaces of engines, model loading and downloads; protocols, so that tests need no weights.
import PagodaKit

/// A loaded model as the app uses it; implemented by ``Engine``.
public protocol ChatEngine: Sendable {
  /// Answers a request; dropping the stream cancels it.
  func submit(_ request: Request) -> AnswerStream<Event>
  /// Longest conversation in tokens.
  var contextLength: Int { get }
  /// The device that computes, in words.
  var device: String { get }
  /// Its current load.
  var load: EngineLoad { get }
  /// Whether the model thinks before it answers if a request does not say; nil if its template has no such switch.
  var thinksByDefault: Bool? { get }
  /// The memory it takes, in bytes; nil if it is not known.
  var memoryBytes: Int64? { get }
  /// Ends every request and frees the memory.
  func shutDown() async
}

extension ChatEngine {
  /// Not known.
  public var memoryBytes: Int64? { nil }
}

/// The current load of an engine.
public struct EngineLoad: Hashable, Sendable {
  /// Requests running.
  public var running = 0
  /// Requests waiting for memory.
  public var waiting = 0
  /// KV blocks in use by running requests.
  public var usedBlocks: Int64 = 0
  /// Total KV blocks.
  public var blocks: Int64 = 0
  /// KV blocks whose content may be reused.
  public var cachedBlocks: Int64 = 0

  /// An idle engine.
  public init() {}
}

extension Engine: ChatEngine {
  /// The longest sequence of the memory plan.
  public var contextLength: Int { info.plan.maximumModelLength }

  /// Weights, caches and workspace of the memory plan.
  public var memoryBytes: Int64? { info.plan.totalBytes }

  /// The device and the instruction set that it runs.
  public var device: String { info.device }

  /// Whether the template begins an answer in the same way without the switch as with it.
  public var thinksByDefault: Bool? {
    func prompt(_ thinking: Bool?) -> [Int32]? {
      try? encode(.messages([.user("Hello")]), thinking: thinking).ids
    }
    guard let plain = prompt(nil), let on = prompt(true), let off = prompt(false), on != off else { return nil }
    return plain == on
  }

  /// The engine's statistics for the status bar.
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

/// The memory a model would need, in bytes, computed before loading.
public struct MemoryEstimate: Hashable, Sendable {
  /// The weights.
  public var weightsBytes: Int64
  /// KV cache, recurrent states and workspace.
  public var workingBytes: Int64
  /// The device's limit.
  public var limitBytes: Int64
  /// The KV cache alone; part of `workingBytes`.
  public var cacheBytes: Int64 = 0
  /// Bytes of weights that each token reads: of a mixture's experts only those that it is routed to; 0 if not known.
  public var bytesPerToken: Int64 = 0
  /// The longest conversation that was planned for, in tokens.
  public var contextLength = 0
  /// The longest conversation that the model supports, in tokens.
  public var longestContext = 0
  /// The device that would compute.
  public var device = ""

  /// An estimate.
  public init(weightsBytes: Int64, workingBytes: Int64, limitBytes: Int64) {
    self.weightsBytes = weightsBytes
    self.workingBytes = workingBytes
    self.limitBytes = limitBytes
  }

  /// Total memory.
  public var totalBytes: Int64 { weightsBytes + workingBytes }
  /// Whether it fits.
  public var fits: Bool { totalBytes <= limitBytes }
}

/// Loads models.
public protocol ModelLoader: Sendable {
  /// Loads a model. `progress` receives fractions from 0 to 1 on any thread.
  func load(
    _ source: ModelSource, _ settings: LoadSettings, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> any ChatEngine
  /// The memory a model would need; reads no weights.
  func estimate(_ source: ModelSource, _ settings: LoadSettings) async throws -> MemoryEstimate
}

/// Loads models with PagodaKit.
public struct EngineLoader: ModelLoader {
  /// Options for new engines.
  public var options: EngineOptions

  /// A loader with the given options.
  public init(options: EngineOptions = EngineOptions()) { self.options = options }

  /// Loads a model and starts its engine.
  public func load(
    _ source: ModelSource, _ settings: LoadSettings, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> any ChatEngine {
    try await Engine.load(source, options: settings.applied(to: options)) { progress($0.fraction) }
  }

  /// The engine's memory plan.
  public func estimate(_ source: ModelSource, _ settings: LoadSettings) async throws -> MemoryEstimate {
    let info = try await Engine.inspect(source, options: settings.applied(to: options))
    var estimate = MemoryEstimate(
      weightsBytes: info.plan.weightsBytes, workingBytes: info.plan.totalBytes - info.plan.weightsBytes,
      limitBytes: info.plan.deviceLimitBytes)
    estimate.bytesPerToken = info.bytesPerToken
    estimate.cacheBytes = info.plan.kvBytes
    estimate.contextLength = info.plan.maximumModelLength
    estimate.longestContext = info.contextLength
    estimate.device = info.device
    return estimate
  }
}
