// EngineModel: the app's loaded model, its loading and unloading.
import Foundation
import Observation
import PagodaHub
import PagodaKit

/// An error to display: a title, the cause, and a possible remedy.
public struct ChatFailure: LocalizedError, Hashable, Sendable {
  /// The failed action.
  public var title: String
  /// Why it failed.
  public var cause: String
  /// A possible remedy; nil if none is known.
  public var advice: String?

  /// A failure of `title` caused by an error.
  public init(_ title: InterfaceText, _ error: any Error) {
    self.title = localized(title)
    cause = (error as? HubError)?.message ?? error.localizedDescription
    advice =
      switch error as? PagodaError {
      case .outOfMemory: localized("Unload other models, or load a smaller or quantised one.")
      case .contextOverflow: localized("Begin a new chat, or branch from an earlier message.")
      case .resourceExhausted: localized("Try again when other answers have ended.")
      case .badFile, .notFound: localized("Download the model again.")
      default: nil
      }
  }

  /// A failure with a textual cause.
  public init(_ title: InterfaceText, cause: InterfaceText, advice: InterfaceText? = nil) {
    self.title = localized(title)
    self.cause = localized(cause)
    self.advice = advice.map { localized($0) }
  }

  /// Title and cause.
  public var errorDescription: String? { "\(title): \(cause)" }
  /// A possible remedy.
  public var recoverySuggestion: String? { advice }
}

/// The app's loaded model.
@MainActor @Observable
public final class EngineModel {
  /// Loading state of the model.
  public enum State: Hashable, Sendable {
    /// No model is in memory.
    case unloaded
    /// A model is being loaded; fraction is the progress.
    case loading(name: String, fraction: Double)
    /// A model is ready to answer.
    case ready(name: String)
    /// Loading failed.
    case failed(ChatFailure)
  }

  /// Loading state of the model.
  public private(set) var state = State.unloaded
  /// The loaded model.
  public private(set) var engine: (any ChatEngine)?
  /// Whether the loaded model thinks before it answers if a chat does not say; nil if it has no such switch.
  public private(set) var thinksByDefault: Bool?
  /// The engine's load when last refreshed.
  public private(set) var load = EngineLoad()

  /// Finds a model of the library by its name, for chats that have one of their own.
  @ObservationIgnored var findModel: (String) -> (source: ModelSource, settings: LoadSettings)? = { _ in nil }

  private let loader: any ModelLoader
  private var loading: Task<Void, Never>?
  private var loadCount = 0
  private var last: (source: ModelSource, name: String, settings: LoadSettings)?
  private var waiters: [UUID: CheckedContinuation<Void, Never>] = [:]

  /// No model yet.
  public init(loader: any ModelLoader) { self.loader = loader }

  /// The name of the model that is loaded or being loaded.
  public var modelName: String? {
    switch state {
    case .loading(let name, _), .ready(let name): name
    case .unloaded, .failed: nil
    }
  }

  /// The device that the loaded model computes on, in words; nil without a model.
  public var device: String? { engine?.device }

  /// The memory that the loaded model takes, in bytes; unloading it frees it.
  public var memoryBytes: Int64? { engine?.memoryBytes }

  /// The memory a model would need.
  public func estimate(_ source: ModelSource, _ settings: LoadSettings = LoadSettings()) async throws -> MemoryEstimate
  {
    try await loader.estimate(source, settings)
  }

  /// Whether an answer is possible: from the loaded model, from one being loaded, or from the last one, loaded again.
  public var canAnswer: Bool {
    switch state {
    case .ready, .loading: true
    case .unloaded: last != nil
    case .failed: false
    }
  }

  /// The engine, as soon as it is available: waits for a model being loaded, and reloads the last one if it was
  /// unloaded. Throws the reason if there is none, or `CancellationError` if the task is cancelled.
  ///
  /// A chat may want a model of its own: it replaces the loaded one.
  public func ready(for wanted: String? = nil) async throws -> any ChatEngine {
    if let wanted, wanted != modelName {
      guard let (source, settings) = findModel(wanted) else {
        throw ChatFailure(
          "No answer", cause: "\(wanted) is not in the library.", advice: "Choose another model for this chat.")
      }
      _ = begin(source, wanted, settings)
    }
    if case .unloaded = state, let last { _ = begin(last.source, last.name, last.settings) }
    while true {
      try Task.checkCancellation()
      if let engine { return engine }
      switch state {
      case .failed(let failure): throw failure
      case .unloaded: throw Self.noModel
      case .loading, .ready: await change()
      }
    }
  }

  static let noModel = ChatFailure(
    "No answer", cause: "No model is loaded.", advice: "Choose a model in the library, then regenerate.")

  /// Waits until a load or an unload has ended, or the task is cancelled.
  private func change() async {
    let id = UUID()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { continuation.resume() } else { waiters[id] = continuation }
      }
    } onCancel: {
      Task { @MainActor in self.waiters.removeValue(forKey: id)?.resume() }
    }
  }

  private func wake() {
    let woken = waiters.values
    waiters = [:]
    for waiter in woken { waiter.resume() }
  }

  /// Replaces the loaded model. The old one is unloaded first: two rarely fit.
  public func load(_ source: ModelSource, named name: String, settings: LoadSettings = LoadSettings()) async {
    await begin(source, name, settings).value
  }

  private func begin(_ source: ModelSource, _ name: String, _ settings: LoadSettings) -> Task<Void, Never> {
    loading?.cancel()
    loadCount += 1
    let (number, old) = (loadCount, takeEngine())
    last = (source, name, settings)
    state = .loading(name: name, fraction: 0)
    let task = Task {
      await old?.shutDown()
      do {
        let engine = try await loader.load(source, settings) { fraction in
          Task { @MainActor [weak self] in self?.note(fraction, of: name) }
        }
        if number != loadCount { return await engine.shutDown() }
        self.engine = engine
        thinksByDefault = engine.thinksByDefault
        state = .ready(name: name)
        refresh()
      } catch {
        if number == loadCount { state = .failed(ChatFailure("\(name) cannot be loaded", error)) }
      }
      wake()
    }
    loading = task
    return task
  }

  /// Ends all answers and frees the memory. A message sent later loads the model again.
  public func unload() async {
    loading?.cancel()
    loadCount += 1
    let old = takeEngine()
    state = .unloaded
    wake()
    await old?.shutDown()
  }

  /// Updates `load` from the engine; call it occasionally, for a status bar.
  public func refresh() { load = engine?.load ?? EngineLoad() }

  private func takeEngine() -> (any ChatEngine)? {
    let old = engine
    engine = nil
    thinksByDefault = nil
    load = EngineLoad()
    return old
  }

  private func note(_ fraction: Double, of name: String) {
    if case .loading(name, let before) = state, fraction > before { state = .loading(name: name, fraction: fraction) }
  }
}
