// ModelPull: downloads a model into the cache, several files in parallel, and makes it visible only when complete.
import Foundation

/// A model in the cache.
public struct PulledModel: Hashable, Sendable {
  /// The requested name.
  public let name: ModelName
  /// The commit that the name referred to.
  public let commit: String
  /// The folder of the snapshot.
  public let folder: String
  /// Total size of the selected files.
  public let bytes: Int64
  /// Number of selected files.
  public let fileCount: Int

  /// Creates one from its values, for tests.
  public init(
    name: ModelName, commit: String, folder: String, bytes: Int64, fileCount: Int
  ) {
    self.name = name
    self.commit = commit
    self.folder = folder
    self.bytes = bytes
    self.fileCount = fileCount
  }
}

/// The files of a download and the space for them, known before its first byte.
package struct PullRoom: Sendable {
  /// The selected files.
  package let files: [HubFile]
  /// Bytes that are not on the disk yet.
  package let missingBytes: Int64
  /// Free bytes on the disk of the cache; nil if unknown.
  package let freeBytes: Int64?
}

/// Downloads models into a cache.
///
/// ```swift
/// if let name = ModelName("Qwen/Qwen3.5-0.8B") {
///   let model = try await ModelPull(HubSettings()).pull(name) { print($0.fraction) }
///   let engine = try await Engine.load(.folder(path: model.folder))
/// }
/// ```
public struct ModelPull: Sendable {
  /// Which hub and which cache.
  public var settings: HubSettings
  /// Which files to download.
  public var selection = FileSelection()
  /// Number of parallel downloads.
  public var parallelFiles = 4
  /// Whether to rehash blobs that are already present, and download damaged ones again.
  public var verifies = false
  /// Called before the first byte is downloaded and before anything is written; an error ends the download.
  package var beforeDownload: (@Sendable (PullRoom) async throws -> Void)?
  /// Attempts to reach the hub for the list of files; nil means those of the settings.
  package var listingAttempts: Int?

  /// Downloads the files that models need, four at a time.
  public init(_ settings: HubSettings) { self.settings = settings }

  /// Downloads missing files. `progress` is called on any thread, about ten times per second at most.
  public func pull(
    _ model: ModelName, progress: @escaping @Sendable (PullProgress) -> Void = { _ in }
  ) async throws -> PulledModel {
    let cache = HubCache(folder: settings.cacheFolder)
    if settings.isOffline { return try cached(model, in: cache) }
    var listingSettings = settings
    listingSettings.maximumAttempts = listingAttempts ?? settings.maximumAttempts
    let listing = try await HubAPI(listingSettings).listing(of: model)
    let files = try selection.choose(from: listing, of: model)
    let room = room(for: files, of: model, in: cache)
    try await beforeDownload?(room)
    try checkDisk(room, of: model)
    try makeFolder("\(cache.folder(of: model))/blobs")

    let meter = ProgressMeter(files: files, report: progress)
    let work = FileQueue(files.sorted { $0.size > $1.size })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<min(max(parallelFiles, 1), files.count) {
        group.addTask {
          let connection = HTTPConnection(settings: settings)
          let fetch = BlobFetch(
            model: model, commit: listing.commit, settings: settings, connection: connection, meter: meter)
          while let file = work.next() { try await place(file, fetch, in: cache) }
        }
      }
      try await group.waitForAll()
    }
    // Last, so that the name never refers to an incomplete model.
    try cache.writeRef(model, commit: listing.commit)
    return PulledModel(
      name: model, commit: listing.commit, folder: cache.snapshot(listing.commit, of: model),
      bytes: files.reduce(0) { $0 + $1.size }, fileCount: files.count)
  }

  private func cached(_ model: ModelName, in cache: HubCache) throws -> PulledModel {
    guard (try? cache.location(of: model)) != nil else {
      throw HubError.notFound(
        "\(model) is not complete in the cache (\(cache.folder)), and HF_HUB_OFFLINE is set, so nothing is fetched; "
          + "unset HF_HUB_OFFLINE to fetch it")
    }
    let commit = cache.commit(of: model) ?? model.revision
    let files = cache.files(in: cache.snapshot(commit, of: model))
    return PulledModel(
      name: model, commit: commit, folder: cache.snapshot(commit, of: model),
      bytes: files.reduce(0) { $0 + $1.size }, fileCount: files.count)
  }

  /// Ensures that a blob is present and valid, then links it into the snapshot.
  private func place(_ file: HubFile, _ fetch: BlobFetch, in cache: HubCache) async throws {
    let model = fetch.model
    let path = cache.blob(file.hash.name, of: model)
    let lockPath = "\(cache.lockFolder(of: model))/\(file.hash.name).lock"
    let lock = try await FileLock.acquire(lockPath) {
      fetch.meter.note("\(file.path): another process fetches it")
    }
    if try await isThere(file, at: path) {
      fetch.meter.adjust(file.size)
    } else {
      try await fetch.fetch(file, to: path)
    }
    try cache.link(file.path, in: fetch.commit, toBlob: file.hash.name, of: model)
    fetch.meter.finishFile()
    withExtendedLifetime(lock) {}
  }

  /// Removes a blob of the wrong size, or, when verifying, with the wrong content.
  private func isThere(_ file: HubFile, at path: String) async throws -> Bool {
    guard let size = fileSize(path) else { return false }
    if size == file.size {
      if !verifies { return true }
      let isRight = try await offCooperativePool { try hashOfFile(path, file) == file.hash.name }
      if isRight { return true }
    }
    guard unlink(path) == 0 else { throw diskError(path) }
    return false
  }

  private func room(for files: [HubFile], of model: ModelName, in cache: HubCache) -> PullRoom {
    let missing = Dictionary(files.map { ($0.hash, $0) }, uniquingKeysWith: { first, _ in first }).values.reduce(
      Int64(0)
    ) {
      let path = cache.blob($1.hash.name, of: model)
      return $0 + (fileSize(path) == $1.size ? 0 : max($1.size - (fileSize(path + ".incomplete") ?? 0), 0))
    }
    return PullRoom(files: files, missingBytes: missing, freeBytes: freeBytes(at: existingFolder(cache.folder)))
  }

  private func checkDisk(_ room: PullRoom, of model: ModelName) throws {
    guard let free = room.freeBytes, room.missingBytes > free else { return }
    throw HubError.disk(
      "\(model) needs \(gibibytes(room.missingBytes)) more on the disk of \(settings.cacheFolder), which has "
        + "\(gibibytes(free)) free; HF_HUB_CACHE names another folder")
  }
}

/// The nearest folder above a path that exists: the cache is created by the first download.
private func existingFolder(_ path: String) -> String {
  var folder = path
  while folder.count > 1 && !isFolder(folder) { folder = (folder as NSString).deletingLastPathComponent }
  return folder.isEmpty ? "." : folder
}

/// Files waiting for a worker.
private final class FileQueue: @unchecked Sendable {
  private let lock = NSLock()
  private var files: ArraySlice<HubFile>

  init(_ files: [HubFile]) { self.files = files[...] }

  func next() -> HubFile? { lock.withLock { files.popFirst() } }
}

/// Nil if there is no such file; follows links.
func fileSize(_ path: String) -> Int64? {
  var info = stat()
  return stat(path, &info) == 0 ? Int64(info.st_size) : nil
}

private func hashOfFile(_ path: String, _ file: HubFile) throws -> String {
  guard let handle = FileHandle(forReadingAtPath: path) else { throw diskError(path) }
  defer { try? handle.close() }
  var digest = Digest(file.hash, size: file.size)
  while let data = try handle.read(upToCount: 1 << 20), !data.isEmpty { digest.add(data) }
  return digest.finish()
}
