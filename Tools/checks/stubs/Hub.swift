// The part of swift-transformers' Hub that PagodaTransformers uses, where it cannot be fetched (1.x): a snapshot is the folder
// that the environment names.
import Foundation

/// A client of the hub.
public struct HubApi: Sendable {
  /// The client that most programs use.
  public static let shared = HubApi()
}

extension HubApi {
  /// A repository.
  public struct Repo: Sendable {
    /// A repository by its name.
    public init(id: String) {}
  }

  /// Downloads the matching files of a repository and returns their folder.
  @discardableResult
  public func snapshot(
    from repo: Repo, revision: String = "main", matching globs: [String] = [],
    progressHandler: @escaping (Progress) -> Void = { _ in }
  ) async throws -> URL { throw CocoaError(.fileReadUnknown) }

  /// Downloads the matching files of a repository and returns their folder.
  @discardableResult
  public func snapshot(
    from repoId: String, revision: String = "main", matching globs: [String] = [],
    progressHandler: @escaping (Progress) -> Void = { _ in }
  ) async throws -> URL {
    let folder = ProcessInfo.processInfo.environment["STUB_SNAPSHOTS"] ?? ""
    if repoId == "org/slow" { try? await Task.sleep(for: .seconds(3600)) }  // ends like the original: with what it has
    return URL(filePath: "\(folder)/\(revision)")
  }

  /// Downloads the matching files of a repository and returns their folder.
  @discardableResult
  public func snapshot(
    from repoId: String, revision: String = "main", matching glob: String,
    progressHandler: @escaping (Progress) -> Void = { _ in }
  ) async throws -> URL { throw CocoaError(.fileReadUnknown) }

  /// Downloads the matching files of a repository and returns their folder.
  @discardableResult
  public func snapshot(
    from repoId: String, revision: String = "main", matching globs: [String] = [],
    progressHandler: @escaping (Progress, Double?) -> Void
  ) async throws -> URL { throw CocoaError(.fileReadUnknown) }
}
