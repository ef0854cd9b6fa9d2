// EngineModel: the one loaded model of the app, and the way there and back.
import Foundation
import Observation
import PagodaKit

/// What went wrong, in a form to show: a title, the cause, and what might help.
public struct ChatFailure: LocalizedError, Hashable, Sendable {
  /// What was being done.
  public var title: String
  /// Why it failed.
  public var cause: String
  /// What might help; nil when nothing is known to.
  public var advice: String?

  /// A failure of `title`, told from the error that caused it.
  public init(_ title: String, _ error: any Error) {
    self.title = title
    cause = error.localizedDescription
    advice =
      switch error as? PagodaError {
      case .outOfMemory: "Unload other models, or load a smaller or quantised one."
      case .contextOverflow: "Begin a new chat, or branch from an earlier message."
      case .resourceExhausted: "Try again when other answers have ended."
      case .badFile, .notFound: "Download the model again."
      default: nil
      }
  }

  /// A failure told in words.
  public init(_ title: String, cause: String, advice: String? = nil) {
    self.title = title
    self.cause = cause
    self.advice = advice
  }

  /// Title and cause.
  public var errorDescription: String? { "\(title): \(cause)" }
  /// What might help.
  public var recoverySuggestion: String? { advice }
}

/// The one loaded model of the app.
@MainActor @Observable
public final class EngineModel {
  /// Where the app is with its model.
  public enum State: Hashable, Sendable {
    /// No model is in memory.
    case unloaded
    /// A model is being loaded, so far.
    case loading(name: String, fraction: Double)
    /// A model answers.
    case ready(name: String)
    /// Loading failed.
    case failed(ChatFailure)
  }

  /// Where the app is with its model.
  public private(set) var state = State.unloaded
  /// The loaded model.
  public private(set) var engine: (any ChatEngine)?
  /// What the engine was doing when it was last asked.
  public private(set) var load = EngineLoad()

  private let loader: any ModelLoader
  private var loading: Task<Void, Never>?

  /// No model yet.
  public init(loader: any ModelLoader) { self.loader = loader }

  /// The name of the model that is loaded or being loaded.
  public var modelName: String? {
    switch state {
    case .loading(let name, _), .ready(let name): name
    case .unloaded, .failed: nil
    }
  }

  /// What a model would take.
  public func estimate(_ source: ModelSource) async throws -> MemoryEstimate { try await loader.estimate(source) }

  /// Loads a model in place of the one there is. The old one goes first: two rarely fit.
  public func load(_ source: ModelSource, named name: String) async {
    loading?.cancel()
    let task = Task {
      await unloadNow()
      state = .loading(name: name, fraction: 0)
      do {
        let engine = try await loader.load(source) { fraction in
          Task { @MainActor [weak self] in self?.note(fraction, of: name) }
        }
        if Task.isCancelled { return await engine.shutDown() }
        self.engine = engine
        state = .ready(name: name)
        refresh()
      } catch {
        if !Task.isCancelled { state = .failed(ChatFailure("\(name) cannot be loaded", error)) }
      }
    }
    loading = task
    await task.value
  }

  /// Ends all answers and gives the memory back.
  public func unload() async {
    loading?.cancel()
    await unloadNow()
    state = .unloaded
  }

  /// Asks the engine what it is doing; for a status bar, now and then.
  public func refresh() { load = engine?.load ?? EngineLoad() }

  private func unloadNow() async {
    let old = engine
    engine = nil
    load = EngineLoad()
    await old?.shutDown()
  }

  private func note(_ fraction: Double, of name: String) {
    if case .loading(name, let before) = state, fraction > before { state = .loading(name: name, fraction: fraction) }
  }
}
