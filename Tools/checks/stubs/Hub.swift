// The part of swift-transformers' Hub that ModelSource+Transformers uses, for type checking where it cannot be fetched (1.x).
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
  ) async throws -> URL { throw CocoaError(.fileReadUnknown) }

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
