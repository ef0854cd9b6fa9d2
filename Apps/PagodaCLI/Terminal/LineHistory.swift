// LineHistory: earlier lines of the user, kept in a file that only the user can read.
import Foundation

/// Lines, the oldest first. The file has one JSON string per line, so that a line may contain line breaks.
package struct LineHistory {
  package private(set) var lines: [String] = []
  private let path: String?
  private static let maximumLines = 2000

  /// - Parameter path: nil keeps the lines in memory only.
  package init(path: String? = nil) {
    self.path = path
    guard let path, let data = FileManager.default.contents(atPath: path) else { return }
    let texts = data.split(separator: UInt8(ascii: "\n")).compactMap {
      try? JSONDecoder().decode(String.self, from: Data($0))
    }
    lines = texts.suffix(Self.maximumLines)
    if texts.count > 2 * Self.maximumLines { rewrite(path) }
  }

  /// `chat_history` in PAGODA_STATE_DIR, or pagoda in XDG_STATE_HOME, or ~/.local/state/pagoda.
  package static func standardPath(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let folder = value("PAGODA_STATE_DIR") { return folder + "/chat_history" }
    let home = value("HOME") ?? NSHomeDirectory()
    return (value("XDG_STATE_HOME") ?? home + "/.local/state") + "/pagoda/chat_history"
  }

  /// Adds a line unless it repeats the last one. A file that cannot be written is no reason to disturb the user.
  package mutating func add(_ line: String) {
    if line.isEmpty || line == lines.last { return }
    lines.append(line)
    guard let path, let data = try? JSONEncoder().encode(line) else { return }
    let folder = (path as NSString).deletingLastPathComponent
    let isPrivate: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: isPrivate)
    // One write of the whole line: two chats may append at the same time.
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = [UInt8](data) + [UInt8(ascii: "\n")]
    _ = bytes.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
  }

  /// The newest line before `index` that contains `text`, regardless of case.
  package func search(_ text: String, before index: Int) -> Int? {
    if text.isEmpty { return nil }
    return lines[..<min(max(index, 0), lines.count)].lastIndex { $0.localizedCaseInsensitiveContains(text) }
  }

  private func rewrite(_ path: String) {
    let texts = lines.compactMap { try? JSONEncoder().encode($0) }.map { $0 + Data("\n".utf8) }
    let temporary = path + ".new"
    let isPrivate: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    guard FileManager.default.createFile(atPath: temporary, contents: Data(texts.joined()), attributes: isPrivate)
    else {
      return
    }
    rename(temporary, path)
  }
}
