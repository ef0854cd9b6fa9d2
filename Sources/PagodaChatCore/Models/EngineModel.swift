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
  public init(_ title: String, _ error: any Error) {
    self.title = title
    cause = (error as? HubError)?.message ?? error.localizedDescription
    advice =
      switch error as? PagodaError {
      case .outOfMemory: "Unload other models, or load a smaller or quantised one."
      case .contextOverflow: "Begin a new chat, or branch from an earlier message."
      case .resourceExhausted: "Try again when other answers have ended."
      case .badFile, .notFound: "Download the model again."
      default: nil
      }
  }

  /// A failure with a textual cause.
  public init(_ title: String, cause: String, advice: String? = nil) {
    self.title = title
    self.cause = cause
    self.advice = advice
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
  /// The engine's load when last refreshed.
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

  /// The memory a model would need.
  public func estimate(_ source: ModelSource) async throws -> MemoryEstimate { try await loader.estimate(source) }

  /// Replaces the loaded model. The old one is unloaded first: two rarely fit.
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

  /// Ends all answers and frees the memory.
  public func unload() async {
    loading?.cancel()
    await unloadNow()
    state = .unloaded
  }

  /// Updates `load` from the engine; call it occasionally, for a status bar.
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
