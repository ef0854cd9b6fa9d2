// WelcomeModel: the first launch: which model suits this machine, and its download. The embedded model answers meanwhile.
import Foundation
import Observation
import PagodaKit

/// A model that the first launch offers.
public struct ModelOffer: Hashable, Sendable, Identifiable {
  /// Its repository on the hub.
  public var id: String
  /// Its name for people.
  public var title: String
  /// Bytes to download, about.
  public var downloadBytes: Int64
  /// The memory it needs.
  public var estimate: MemoryEstimate
  /// Tokens per second at most, from the memory bandwidth; nil for unknown chips.
  public var tokensPerSecond: Double?
  /// Whether it is the one to take.
  public var isRecommended = false

  /// Whether it fits, and leaves memory for other programs.
  public var fits: Bool { estimate.totalBytes < estimate.limitBytes / 4 * 3 }

  /// "Fits" and the expected speed, in words.
  public var note: String {
    guard fits else { return localized("Needs more memory than this machine can spare") }
    guard let speed = tokensPerSecond else { return localized("Fits") }
    return speed < 5 ? localized("Fits, but slow") : localized("Fits, up to \(Int(speed)) tokens per second")
  }
}

/// The first launch.
@MainActor @Observable
public final class WelcomeModel {
  /// The models to choose from, the best last; empty until ``prepare()``.
  public private(set) var offers: [ModelOffer] = []
  /// The model being downloaded; it is loaded when it is complete.
  public private(set) var chosen: String?

  /// A family by size, with a repository of 4-bit weights for each; they are not all named alike.
  static let sizes = [
    ("qwen3.5-0.8b", "Qwen3.5 0.8B", "mlx-community/Qwen3.5-0.8B-MLX-4bit"),
    ("qwen3.5-2b", "Qwen3.5 2B", "mlx-community/Qwen3.5-2B-MLX-4bit"),
    ("qwen3.5-4b", "Qwen3.5 4B", "mlx-community/Qwen3.5-4B-MLX-4bit"),
    ("qwen3.5-9b", "Qwen3.5 9B", "mlx-community/Qwen3.5-9B-MLX-4bit"),
    ("qwen3.5-35b-a3b", "Qwen3.5 35B-A3B", "mlx-community/Qwen3.5-35B-A3B-4bit"),
    ("qwen3.5-27b", "Qwen3.5 27B", "mlx-community/Qwen3.5-27B-4bit"),
  ]
  /// Slower than people read is not recommended.
  static let pleasantSpeed = 12.0

  private let app: AppModel
  private let chip: Chip

  /// The first launch of an app.
  public init(app: AppModel, chip: Chip = .current) {
    self.app = app
    self.chip = chip
  }

  /// Whether to show it: nothing was chosen yet, and there is only the embedded model.
  public var isNeeded: Bool {
    !app.settings.settings.hasChosenModel && app.settings.settings.modelFolder == nil
      && !app.library.entries.contains { !$0.isEmbedded && $0.state == .ready }
  }

  /// Plans the memory of each size. Needs no network.
  public func prepare() async {
    var settings = LoadSettings()
    settings.weights = .fourBit
    settings.contextLength = 16384
    settings.parallelAnswers = 1
    var found: [ModelOffer] = []
    for (shape, title, repository) in Self.sizes {
      guard let estimate = try? await app.engines.estimate(.shape(shape), settings) else { continue }
      let read = estimate.bytesPerToken > 0 ? estimate.bytesPerToken : max(estimate.weightsBytes, 1)
      found.append(
        ModelOffer(
          id: repository, title: title, downloadBytes: estimate.weightsBytes, estimate: estimate,
          tokensPerSecond: chip.bytesPerSecond.map { $0 / Double(read) }))
    }
    let best = found.lastIndex { $0.fits && ($0.tokensPerSecond ?? .infinity) >= Self.pleasantSpeed }
    if let best = best ?? found.firstIndex(where: \.fits) { found[best].isRecommended = true }
    offers = found
  }

  /// Downloads a model in the background and loads it when it is complete, unless another was chosen meanwhile.
  public func choose(_ id: String) async {
    app.settings.settings.hasChosenModel = true
    chosen = id
    await app.library.downloadAndWait(id)
    guard chosen == id, app.library.entries.contains(where: { $0.id == id && $0.state == .ready }) else { return }
    chosen = nil
    await app.use(id)
  }

  /// The model's progress; nil when nothing is downloaded.
  public var progress: DownloadProgress? {
    guard let entry = app.library.entries.first(where: { $0.id == chosen }) else { return nil }
    if case .downloading(let progress) = entry.state { return progress }
    return nil
  }

  /// Keeps the embedded model, and does not ask again.
  public func skip() { app.settings.settings.hasChosenModel = true }
}
