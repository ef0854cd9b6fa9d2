// Lists and removes the models of a cache.
import Foundation

/// A model in a cache.
public struct CachedModel: Hashable, Sendable {
  /// `ORG/NAME`.
  public let repository: String
  /// One entry per commit.
  public let revisions: [CachedRevision]
  /// Size on disk: every blob once, plus partial downloads.
  public let bytes: Int64

  /// Creates one from its values, for tests.
  public init(
    repository: String, revisions: [CachedRevision], bytes: Int64
  ) {
    self.repository = repository
    self.revisions = revisions
    self.bytes = bytes
  }
}

/// One commit of a model in a cache.
public struct CachedRevision: Hashable, Sendable {
  /// 40 hexadecimal digits.
  public let commit: String
  /// Branches and tags that refer to this commit.
  public let names: [String]
  /// The snapshot's folder.
  public let folder: String
  /// Total size of its files; revisions may share some.
  public let bytes: Int64
  /// Number of files present.
  public let fileCount: Int
  /// Whether every file is present.
  public let isComplete: Bool
  /// When the snapshot last changed.
  public let date: Date

  /// Creates one from its values, for tests.
  public init(
    commit: String, names: [String], folder: String, bytes: Int64, fileCount: Int, isComplete: Bool, date: Date
  ) {
    self.commit = commit
    self.names = names
    self.folder = folder
    self.bytes = bytes
    self.fileCount = fileCount
    self.isComplete = isComplete
    self.date = date
  }
}

/// A file of a snapshot and the blob behind it.
struct CachedFile: Hashable {
  var path: String
  var blob: String?  // nil on file systems without links
  var size: Int64
}

extension HubCache {
  /// All models, by name. An unreadable folder counts as empty.
  public func models() -> [CachedModel] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { ModelName.repository(ofFolder: $0) }.compactMap { ModelName($0) }.compactMap {
      describe($0)
    }
    .filter { !$0.revisions.isEmpty || $0.bytes > 0 }  // a refused download may have left a folder
    .sorted { $0.repository < $1.repository }
  }

  /// Nil if the cache has nothing of the model.
  func describe(_ model: ModelName) -> CachedModel? {
    guard isFolder(folder(of: model)) else { return nil }
    let refs = self.refs(of: model)
    let snapshots = folder(of: model) + "/snapshots"
    let commits = ((try? FileManager.default.contentsOfDirectory(atPath: snapshots)) ?? []).sorted()
    let revisions = commits.filter { isHexadecimal($0, digits: 40) }.map { commit in
      let files = self.files(in: "\(snapshots)/\(commit)")
      let attributes = try? FileManager.default.attributesOfItem(atPath: "\(snapshots)/\(commit)")
      let pinned = ModelName("\(model.repository)@\(commit)")
      return CachedRevision(
        commit: commit, names: refs.filter { $0.value == commit }.map(\.key).sorted(), folder: "\(snapshots)/\(commit)",
        bytes: files.reduce(0) { $0 + $1.size }, fileCount: files.count,
        isComplete: pinned.map { (try? location(of: $0)) != nil } ?? false,
        date: attributes?[.modificationDate] as? Date ?? .distantPast)
    }
    return CachedModel(repository: model.repository, revisions: revisions, bytes: blobBytes(of: model))
  }

  private func blobBytes(of model: ModelName) -> Int64 {
    let blobs = folder(of: model) + "/blobs"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: blobs)) ?? []
    return names.reduce(0) { $0 + (fileSize("\(blobs)/\($1)") ?? 0) }
  }

  /// Commits by branch or tag.
  private func refs(of model: ModelName) -> [String: String] {
    let refs = folder(of: model) + "/refs"
    let names = FileManager.default.enumerator(atPath: refs)?.compactMap { $0 as? String } ?? []
    return names.reduce(into: [:]) { found, name in
      guard let pinned = ModelName("\(model.repository)@\(name)"), !isFolder("\(refs)/\(name)") else { return }
      found[name] = commit(of: pinned)
    }
  }

  func files(in snapshot: String) -> [CachedFile] {
    let paths = FileManager.default.enumerator(atPath: snapshot)?.compactMap { $0 as? String } ?? []
    return paths.sorted().filter { !isFolder("\(snapshot)/\($0)") }.map { path in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(snapshot)/\(path)")
      let blob = target.map { ($0 as NSString).lastPathComponent }
      return CachedFile(path: path, blob: blob, size: fileSize("\(snapshot)/\(path)") ?? 0)
    }
  }

  /// Removes a model, or one revision of it, and the blobs that nothing else uses; returns the bytes freed.
  /// - Parameter onlyRevision: whether to keep revisions other than that of the name.
  public func remove(_ model: ModelName, onlyRevision: Bool) throws -> Int64 {
    guard let before = describe(model) else {
      throw HubError.notFound("\(model.repository) is not in the cache (\(folder))")
    }
    let locks = try lockAll(model)
    defer { withExtendedLifetime(locks) {} }
    if onlyRevision {
      guard let commit = commit(of: model), before.revisions.contains(where: { $0.commit == commit }) else {
        let available = before.revisions.map { ([String($0.commit.prefix(12))] + $0.names).joined(separator: " ") }
        throw HubError.notFound(
          "\(model.repository) has no revision '\(model.revision)' in the cache; it has "
            + (available.isEmpty ? "none" : available.joined(separator: ", ")))
      }
      if before.revisions.count > 1 { return try removeRevision(commit, of: model, before: before) }
    }
    // References first, contents last: if this is interrupted, no incomplete model can be found by name.
    for part in ["refs", "snapshots", "blobs", ""] { try removeItem("\(folder(of: model))/\(part)") }
    try removeItem(lockFolder(of: model))
    return before.bytes
  }

  private func removeRevision(_ commit: String, of model: ModelName, before: CachedModel) throws -> Int64 {
    for (name, target) in refs(of: model) where target == commit { try removeItem("\(folder(of: model))/refs/\(name)") }
    let mine = Set(files(in: snapshot(commit, of: model)).compactMap(\.blob))
    try removeItem(snapshot(commit, of: model))
    try removeItem("\(folder(of: model))/.no_exist/\(commit)")
    let others = before.revisions.filter { $0.commit != commit }
    let used = Set(others.flatMap { files(in: $0.folder).compactMap(\.blob) })
    for name in mine.subtracting(used) { try removeItem(blob(name, of: model)) }
    return before.bytes - blobBytes(of: model)
  }

  /// Removes files of a snapshot, and their blobs where no other file is a link to them; returns the bytes freed.
  func removeFiles(_ names: [String], in snapshot: String, of model: ModelName) throws -> Int64 {
    let locks = try lockAll(model)
    defer { withExtendedLifetime(locks) {} }
    let before = blobBytes(of: model)
    let mine = Set(files(in: snapshot).filter { names.contains($0.path) }.compactMap(\.blob))
    for name in names { try removeItem("\(snapshot)/\(name)") }
    let used = Set(describe(model)?.revisions.flatMap { files(in: $0.folder).compactMap(\.blob) } ?? [])
    for name in mine.subtracting(used) { try removeItem(blob(name, of: model)) }
    return before - blobBytes(of: model)
  }

  /// Ensures that no download is in progress while files are deleted.
  private func lockAll(_ model: ModelName) throws -> [FileLock] {
    let folder = lockFolder(of: model)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return try names.map { name in
      guard let lock = try FileLock.attempt("\(folder)/\(name)") else {
        throw HubError.busy("\(model.repository) is being fetched by another process")
      }
      return lock
    }
  }

  private func removeItem(_ path: String) throws {
    guard (try? FileManager.default.attributesOfItem(atPath: path)) != nil else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      throw HubError.disk("\(path): cannot be removed: \(error.localizedDescription)")
    }
  }
}
