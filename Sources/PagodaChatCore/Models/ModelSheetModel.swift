// ModelSheetModel: the choices for one model before it is loaded, with the memory they need.
import Foundation
import Observation

/// The choices for one model before it is loaded, with the memory plan that follows from them.
@MainActor @Observable
public final class ModelSheetModel: Identifiable {
  /// The model's name in the library.
  public nonisolated let id: String
  /// The choices; the plan follows them.
  public var settings: LoadSettings {
    didSet { if settings != oldValue { plan() } }
  }
  /// The memory that the choices need; nil until it is known.
  public private(set) var estimate: MemoryEstimate?
  /// Why there is no plan.
  public private(set) var failure: ChatFailure?
  /// Whether a plan is being made.
  public var isPlanning: Bool { planning != nil }

  private let app: AppModel
  private var planning: Task<Void, Never>?

  /// The choices made for the model last time.
  public init(_ id: String, app: AppModel) {
    self.id = id
    self.app = app
    settings = app.settings.settings.models[id] ?? LoadSettings()
    plan()
  }

  /// Whether the model can be loaded with these choices.
  public var canLoad: Bool { estimate?.fits == true && failure == nil }

  /// Saves the choices and loads the model with them.
  public func load() async {
    app.settings.settings.models[id] = settings
    app.settings.flush()
    await app.use(id)
  }

  /// Plans for the current choices; a plan for earlier ones is dropped.
  private func plan() {
    planning?.cancel()
    guard let source = app.library.entries.first(where: { $0.id == id })?.source else { return }
    let settings = settings
    planning = Task {
      let result: Result<MemoryEstimate, any Error>
      do { result = .success(try await app.engines.estimate(source, settings)) } catch { result = .failure(error) }
      guard !Task.isCancelled else { return }
      planning = nil
      switch result {
      case .success(let plan): (estimate, failure) = (plan, nil)
      case .failure(let error): (estimate, failure) = (nil, ChatFailure("\(id) cannot be loaded like this", error))
      }
    }
  }
}
