// HubCache: models on disk in the layout of huggingface_hub, so that both programs share one copy.
import Foundation

/// Models on disk: `models--ORG--NAME/{blobs,refs,snapshots}`. A blob is a file named by its hash; a snapshot is a
/// folder per commit whose files are links to blobs; a ref is a file containing the commit that a branch refers to.
///
/// ```swift
/// for model in HubCache(folder: HubSettings().cacheFolder).models() { print(model.repository, model.bytes) }
/// ```
public struct HubCache: Sendable {
  /// The folder that holds all models.
  public let folder: String

  /// The cache in a folder, which need not exist yet.
  public init(folder: String) { self.folder = folder }

  func folder(of model: ModelName) -> String { "\(folder)/\(model.folderName)" }
  func blob(_ name: String, of model: ModelName) -> String { "\(folder(of: model))/blobs/\(name)" }
  func snapshot(_ commit: String, of model: ModelName) -> String { "\(folder(of: model))/snapshots/\(commit)" }
  func lockFolder(of model: ModelName) -> String { "\(folder)/.locks/\(model.folderName)" }

  /// The commit that a name refers to in this cache; nil if unknown.
  func commit(of model: ModelName) -> String? {
    let path = "\(folder(of: model))/refs/\(model.revision)"
    if let data = FileManager.default.contents(atPath: path), data.count <= 64 {
      let commit = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      if isHexadecimal(commit, digits: 40) { return commit }
    }
    return isHexadecimal(model.revision, digits: 40) ? model.revision : nil
  }

  /// The folder to load a model from, or its file if it is a single GGUF. Otherwise throws an error naming the command
  /// that downloads it.
  public func location(of model: ModelName) throws -> String {
    guard let commit = commit(of: model), isFolder(snapshot(commit, of: model)) else {
      throw HubError.notFound("\(model) is not in the cache (\(folder)); fetch it with: pagoda pull \(model)")
    }
    let path = snapshot(commit, of: model)
    if let missing = missingFile(in: path) {
      throw HubError.notFound(
        "\(model) is not complete (\(missing) is missing); fetch the rest with: pagoda pull \(model)")
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    if names.contains("config.json") { return path }
    let models = firstParts(names)
    if models.count > 1 {
      throw HubError.invalidName(
        "\(model) contains several GGUF files; name one of them by its path:\n"
          + models.map { "  \(path)/\($0)" }.joined(separator: "\n"))
    }
    guard let file = models.first else {
      throw HubError.notFound(
        "\(model): no config.json and no GGUF file in \(path); fetch it with: pagoda pull \(model)")
    }
    return "\(path)/\(file)"
  }

  /// The GGUF models of a repository that has several, by the path of their file or of its first part; only complete
  /// ones.
  public func ggufModels(of model: ModelName) -> [String] {
    guard let commit = commit(of: model) else { return [] }
    let path = snapshot(commit, of: model)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    if names.contains("config.json") { return [] }
    return firstParts(names).filter { first in
      allParts(of: first).allSatisfy { FileManager.default.fileExists(atPath: "\(path)/\($0)") }
    }
    .map { "\(path)/\($0)" }
  }

  /// Removes one GGUF model of a repository with several, and the blobs that nothing else uses; with the last one the
  /// repository is removed too. Returns the bytes freed.
  public func removeGGUF(_ name: String, of model: ModelName) throws -> Int64 {
    let cached = ggufModels(of: model)
    guard let path = cached.first(where: { ($0 as NSString).lastPathComponent == name }) else {
      throw HubError.notFound("\(model) has no \(name) in the cache (\(folder))")
    }
    if cached.count == 1 { return try remove(model, onlyRevision: false) }
    return try removeFiles(allParts(of: name), in: (path as NSString).deletingLastPathComponent, of: model)
  }

  private func firstParts(_ names: [String]) -> [String] {
    names.filter { FileSelection.isGGUF($0) && (!$0.contains("-of-") || $0.contains("-00001-of-")) }.sorted()
  }

  /// `x-00001-of-00002.gguf` and its other parts.
  private func allParts(of first: String) -> [String] {
    guard let range = first.range(of: "-00001-of-[0-9]{5}[.]gguf$", options: .regularExpression),
      let count = Int(first[range].dropFirst("-00001-of-".count).prefix(5)), (1...1000).contains(count)
    else { return [first] }
    return (1...count).map { part in
      let number = String(repeating: "0", count: 5 - String(part).count) + String(part)
      return first[..<range.lowerBound] + "-\(number)" + first[range].dropFirst("-00001".count)
    }
  }

  /// A file that a snapshot refers to but lacks: a dangling link, or a shard listed in its index.
  private func missingFile(in snapshot: String) -> String? {
    struct Index: Decodable {
      enum CodingKeys: String, CodingKey { case files = "weight_map" }
      var files: [String: String]  // shards by tensor
    }
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: snapshot)) ?? []).sorted()
    if let broken = names.first(where: { !FileManager.default.fileExists(atPath: "\(snapshot)/\($0)") }) {
      return broken
    }
    for name in names where name.hasSuffix(".safetensors.index.json") {
      guard let data = FileManager.default.contents(atPath: "\(snapshot)/\(name)"),
        let index = try? JSONDecoder().decode(Index.self, from: data)
      else { continue }
      if let shard = Set(index.files.values).subtracting(names).sorted().first { return shard }
    }
    return nil
  }

  /// Records which commit a branch or tag refers to. Commits need no ref.
  func writeRef(_ model: ModelName, commit: String) throws {
    if model.revision == commit { return }
    try writeAtomically(Data(commit.utf8), to: "\(folder(of: model))/refs/\(model.revision)")
  }

  /// Atomically makes `path` of a snapshot a link to a blob, or a copy on file systems without links.
  func link(_ path: String, in commit: String, toBlob name: String, of model: ModelName) throws {
    let file = "\(snapshot(commit, of: model))/\(path)"
    let depth = path.split(separator: "/").count + 1
    let target = String(repeating: "../", count: depth) + "blobs/\(name)"
    if (try? FileManager.default.destinationOfSymbolicLink(atPath: file)) == target { return }
    try makeFolder((file as NSString).deletingLastPathComponent)
    let temporary = "\(file).\(UUID().uuidString.prefix(8)).link"
    if symlink(target, temporary) != 0 {
      guard [EPERM, ENOSYS, EOPNOTSUPP].contains(errno) else { throw diskError(temporary) }
      do {
        try FileManager.default.copyItem(atPath: blob(name, of: model), toPath: temporary)
      } catch {
        throw HubError.disk("\(temporary): \(error.localizedDescription)")
      }
    }
    if rename(temporary, file) != 0 {
      let error = diskError(file)
      unlink(temporary)
      throw error
    }
  }
}

func isFolder(_ path: String) -> Bool {
  var isFolder: ObjCBool = false
  return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
}

func makeFolder(_ path: String) throws {
  do {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  } catch {
    throw HubError.disk("\(path): cannot be created: \(error.localizedDescription)")
  }
}

func writeAtomically(_ data: Data, to path: String) throws {
  try makeFolder((path as NSString).deletingLastPathComponent)
  do {
    try data.write(to: URL(filePath: path), options: .atomic)
  } catch {
    throw HubError.disk("\(path): cannot be written: \(error.localizedDescription)")
  }
}

/// An error for the last system call on a path.
func diskError(_ path: String) -> HubError {
  let reason = errno == ENOSPC ? "the disk is full" : String(cString: strerror(errno))
  return .disk("\(path): \(reason)")
}

/// Free bytes on the disk of an existing folder; nil if unknown.
func freeBytes(at path: String) -> Int64? {
  var info = statvfs()
  guard statvfs(path, &info) == 0 else { return nil }
  return Int64(clamping: UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize)).partialValue)
}
