// LibraryModel: the available models: installed, downloading or loaded, with the memory each needs.
import Foundation
import Observation
import PagodaKit
import PagodaMini

/// A model in the library.
public struct LibraryEntry: Hashable, Sendable, Identifiable {
  /// State of its download.
  public enum State: Hashable, Sendable {
    /// It is on this machine.
    case ready
    /// It is being downloaded.
    case downloading(DownloadProgress)
    /// The download is paused; partial files are kept.
    case paused(DownloadProgress)
    /// The download failed.
    case failed(ChatFailure)
  }

  /// Its name, such as `Qwen/Qwen3.5-0.8B`.
  public var id: String
  /// Its source once it is installed.
  public var source: ModelSource?
  /// Its size on disk in bytes; nil when unknown.
  public var sizeBytes: Int64?
  /// State of its download.
  public var state: State
  /// The memory it needs, once estimated.
  public var estimate: MemoryEstimate?
  /// Average over the last five seconds, while downloading.
  public var bytesPerSecond: Double?

  /// Whether it is the model inside the program, which cannot be deleted.
  public var isEmbedded: Bool { source == .mini }

  /// The VoiceOver label of the whole row; name and details are also read separately.
  public var spokenLabel: String {
    switch state {
    case .ready: localized("Model, ready")
    case .downloading: localized("Model, being downloaded")
    case .paused: localized("Model, download paused")
    case .failed: localized("Model, download failed")
    }
  }

  /// Remaining time of a download, in seconds.
  public var secondsLeft: Double? {
    guard case .downloading(let progress) = state, let total = progress.totalBytes, let rate = bytesPerSecond, rate > 0
    else { return nil }
    return Double(total - progress.receivedBytes) / rate
  }
}

/// The model library.
@MainActor @Observable
public final class LibraryModel {
  /// The embedded model first, then the others by name.
  public private(set) var entries: [LibraryEntry] = []
  /// Why the library cannot be read or changed.
  public var failure: ChatFailure?
  /// Results of the last search.
  public private(set) var found: [FoundModel] = []
  /// Whether a search is in flight.
  public var isSearching: Bool { searching != nil }
  /// A repository with several models, while the user is asked to choose one.
  public private(set) var question: ChoiceQuestion?

  /// The model about to be deleted, while the user is asked to confirm: gigabytes that would have to be downloaded
  /// again.
  public private(set) var removalCandidate: String?

  /// Name of the embedded model.
  public static let embeddedName = "pagoda-mini"

  private var memoryLimit: Int64?  // of the device, once known
  private var downloader: any ModelDownloader
  private var searching: Task<Void, Never>?
  private var choices: [String: (repository: String, choice: ModelChoice)] = [:]  // by name in the library
  private let engines: EngineModel
  private var downloads: [String: Task<Void, Never>] = [:]
  private var meters: [String: RateMeter] = [:]

  /// The models of a downloader, plus the embedded one.
  public init(downloader: any ModelDownloader, engines: EngineModel) {
    self.downloader = downloader
    self.engines = engines
    entries = [LibraryEntry(id: Self.embeddedName, source: .mini, state: .ready)]
  }

  /// Reloads the list of installed models, and estimates the memory each needs.
  public func refresh() async {
    do {
      let installed = try await downloader.installed()
      let unfinished = entries.filter { $0.state != .ready && !installed.map(\.id).contains($0.id) }
      let present = installed.map {
        LibraryEntry(id: $0.id, source: .directory($0.folder), sizeBytes: $0.sizeBytes, state: .ready)
      }
      let embedded = LibraryEntry(id: Self.embeddedName, source: .mini, state: .ready)
      entries = [embedded] + (present + unfinished).sorted { $0.id < $1.id }
    } catch {
      failure = ChatFailure("The model library cannot be read", error)
    }
    for entry in entries where entry.state == .ready { await estimate(entry.id) }
    memoryLimit = entries.first { $0.isEmbedded }?.estimate?.limitBytes
  }

  /// Starts or resumes a download.
  public func download(_ id: String) {
    let name = id.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !name.isEmpty, downloads[name] == nil else { return }
    update(name) { if case .paused(let progress) = $0.state { $0.state = .downloading(progress) } }
    if !entries.contains(where: { $0.id == name && $0.state != .ready }) {
      entries.removeAll { $0.id == name }
      entries.append(LibraryEntry(id: name, state: .downloading(DownloadProgress(receivedBytes: 0))))
    }
    downloads[name] = Task { await fetch(name) }
  }

  /// Downloads a model and waits until it is complete, paused or failed.
  public func downloadAndWait(_ id: String) async {
    download(id)
    await downloads[id]?.value
  }

  /// Searches the source for models. A new search ends an earlier one; an empty query ends the search.
  public func search(_ words: String) {
    searching?.cancel()
    searching = nil
    let wanted = words.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !wanted.isEmpty else {
      found = []
      return
    }
    searching = Task { [downloader] in
      let result: Result<[FoundModel], any Error>
      do { result = .success(try await downloader.search(wanted)) } catch { result = .failure(error) }
      guard !Task.isCancelled else { return }
      searching = nil
      switch result {
      case .success(let models): found = models.map { $0.fitting(memoryLimit) }
      case .failure(let error):
        found = []
        failure = ChatFailure("The search failed", error)
      }
    }
  }

  /// Downloads a model; asks first which one if a repository has several.
  public func fetch(named id: String) async {
    let name = id.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !name.isEmpty else { return }
    do {
      let choices = try await downloader.choices(of: name)
      if choices.count > 1 {
        question = ChoiceQuestion(repository: name, choices: choices)
      } else {
        download(name)
      }
    } catch {
      failure = ChatFailure("\(name) cannot be downloaded", error)
    }
  }

  /// The answer to ``question``; nil downloads nothing.
  public func answer(_ choice: ModelChoice?) {
    guard let asked = question else { return }
    question = nil
    guard let choice else { return }
    let name = choice.name(in: asked.repository)
    choices[name] = (asked.repository, choice)
    download(name)
  }

  /// Switches to another source. Downloads from the previous one are paused.
  public func use(_ downloader: any ModelDownloader) async {
    for download in downloads.values { download.cancel() }
    self.downloader = downloader
    search("")
    entries.removeAll { $0.state == .ready && !$0.isEmbedded }
    await refresh()
  }

  /// Pauses a download and keeps partial files.
  public func pause(_ id: String) { downloads[id]?.cancel() }

  /// Asks whether to delete a model.
  public func askToRemove(_ id: String) {
    if entries.contains(where: { $0.id == id && !$0.isEmbedded }) { removalCandidate = id }
  }

  /// The user's answer to the question.
  public func answerRemoval(_ isConfirmed: Bool) async {
    guard let candidate = removalCandidate else { return }
    removalCandidate = nil
    if isConfirmed { await remove(candidate) }
  }

  /// Cancels a download if necessary and deletes the model; a loaded model stays in memory until it is unloaded.
  public func remove(_ id: String) async {
    let download = downloads[id]
    download?.cancel()
    await download?.value
    do {
      try await downloader.remove(id)
      entries.removeAll { $0.id == id && !$0.isEmbedded }
    } catch {
      failure = ChatFailure("\(id) cannot be deleted", error)
    }
  }

  /// Loads a model of the library.
  public func load(_ id: String, settings: LoadSettings = LoadSettings()) async {
    guard let entry = entries.first(where: { $0.id == id }), let source = entry.source else { return }
    await engines.load(source, named: id, settings: settings)
  }

  private func estimate(_ id: String) async {
    guard let source = entries.first(where: { $0.id == id })?.source else { return }
    let estimate = try? await engines.estimate(source)  // loading reports why a folder is not a model
    update(id) { $0.estimate = estimate }
  }

  private func fetch(_ id: String) async {
    do {
      let stream =
        choices[id].map { downloader.download($0.repository, only: $0.choice) } ?? downloader.download(id)
      for try await progress in stream {
        meters[id, default: RateMeter()].note(progress.receivedBytes, at: .now)
        update(id) {
          $0.state = .downloading(progress)
          $0.bytesPerSecond = meters[id]?.bytesPerSecond
        }
      }
      finish(id)
      if !Task.isCancelled { await refreshAfterDownload(id) }
    } catch is CancellationError {
      finish(id)
    } catch {
      finish(id)
      update(id) { $0.state = .failed(ChatFailure("\(id) cannot be downloaded", error)) }
    }
  }

  private func finish(_ id: String) {
    downloads[id] = nil
    meters[id] = nil
    update(id) {
      $0.bytesPerSecond = nil
      if case .downloading(let progress) = $0.state { $0.state = .paused(progress) }
    }
  }

  private func refreshAfterDownload(_ id: String) async {
    entries.removeAll { $0.id == id }
    await refresh()
  }

  private func update(_ id: String, _ body: (inout LibraryEntry) -> Void) {
    if let index = entries.firstIndex(where: { $0.id == id }) { body(&entries[index]) }
  }
}

/// Asks which of several models of a repository to download.
public struct ChoiceQuestion: Hashable, Sendable, Identifiable {
  /// The repository.
  public var repository: String
  /// Its models, by name.
  public var choices: [ModelChoice]
  /// The repository.
  public var id: String { repository }
}

/// Bytes per second over the last five seconds.
struct RateMeter {
  private var samples: [(time: ContinuousClock.Instant, bytes: Int64)] = []

  mutating func note(_ bytes: Int64, at time: ContinuousClock.Instant) {
    samples.append((time, bytes))
    samples.removeAll { time - $0.time > .seconds(5) }
  }

  var bytesPerSecond: Double? {
    guard let first = samples.first, let last = samples.last, last.time > first.time else { return nil }
    return Double(last.bytes - first.bytes) / ((last.time - first.time) / .seconds(1))
  }
}
