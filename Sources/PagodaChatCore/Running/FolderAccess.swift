// FolderAccess: keeps the permission to read a folder outside the app's sandbox, as a bookmark.
import Foundation

/// Keeps the permission to read a folder chosen by the user.
public protocol FolderAccess: Sendable {
  /// The bookmark that restores the permission at the next start.
  func bookmark(of folder: URL) throws -> Data
  /// The folder of a bookmark, with permission to read it, and whether the bookmark should be renewed.
  func open(_ bookmark: Data) throws -> (folder: URL, isStale: Bool)
}

/// Security-scoped bookmarks on Apple systems, where a sandboxed app needs one to read a folder; elsewhere the path.
public struct SystemFolderAccess: FolderAccess {
  /// Uses the system's bookmarks.
  public init() {}

  #if os(macOS)
  /// A bookmark that only this app can use. In a sandbox this needs the entitlement
  /// `com.apple.security.files.bookmarks.app-scope`.
  public func bookmark(of folder: URL) throws -> Data {
    _ = folder.startAccessingSecurityScopedResource()  // as the person just allowed
    return try folder.bookmarkData(options: .withSecurityScope)
  }

  /// The permission lasts as long as the process.
  public func open(_ bookmark: Data) throws -> (folder: URL, isStale: Bool) {
    var isStale = false
    let folder = try URL(resolvingBookmarkData: bookmark, options: .withSecurityScope, bookmarkDataIsStale: &isStale)
    _ = folder.startAccessingSecurityScopedResource()  // false outside a sandbox, where none is needed
    return (folder, isStale)
  }
  #elseif canImport(Darwin)
  /// A bookmark of this app alone.
  public func bookmark(of folder: URL) throws -> Data {
    _ = folder.startAccessingSecurityScopedResource()  // as the person just allowed
    return try folder.bookmarkData()
  }

  /// The permission lasts as long as the process.
  public func open(_ bookmark: Data) throws -> (folder: URL, isStale: Bool) {
    var isStale = false
    let folder = try URL(resolvingBookmarkData: bookmark, bookmarkDataIsStale: &isStale)
    _ = folder.startAccessingSecurityScopedResource()
    return (folder, isStale)
  }
  #else
  /// The path.
  public func bookmark(of folder: URL) throws -> Data { Data(folder.path.utf8) }

  /// The folder, which must exist.
  public func open(_ bookmark: Data) throws -> (folder: URL, isStale: Bool) {
    let folder = URL(filePath: String(decoding: bookmark, as: UTF8.self))
    guard (try? folder.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true else {
      throw StoreError("\(folder.path) no longer exists")
    }
    return (folder, false)
  }
  #endif
}
