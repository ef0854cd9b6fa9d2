// AddedNames: names that an administrator gave to models while the server runs, and the models on disk.
import Foundation

/// Any thread may use it.
final class AddedNames: @unchecked Sendable {
  static let maximum = 100
  private let lock = NSLock()
  private var models: [String: String] = [:]  // names of models by added name; guarded by `lock`

  /// The model that a name was given to; `:latest` is optional.
  func model(of name: String) -> String? {
    lock.withLock { models[name] ?? models[name.hasSuffix(":latest") ? String(name.dropLast(7)) : name] }
  }

  func names(of model: String) -> [String] { lock.withLock { models.filter { $0.value == model }.map(\.key).sorted() } }

  /// False if there are too many.
  func add(_ name: String, for model: String) -> Bool {
    lock.withLock {
      if models.count >= Self.maximum && models[name] == nil { return false }
      models[name] = model
      return true
    }
  }

  /// False if there is none.
  func remove(_ name: String) -> Bool { lock.withLock { models.removeValue(forKey: name) != nil } }
}

/// Downloads and deletes models; the command-line program has one for the hub's cache.
package protocol ModelLibrary: Sendable {
  /// Downloads a model; `progress` gets the bytes on disk and in total.
  func pull(_ name: String, progress: @escaping @Sendable (Int64, Int64) -> Void) async throws
  /// Deletes a downloaded model.
  func delete(_ name: String) throws
}

/// An error of a library, in one sentence.
package struct LibraryError: Error {
  var message: String
  var isMissing: Bool

  package init(_ message: String, isMissing: Bool = false) {
    self.message = message
    self.isMissing = isMissing
  }
}
