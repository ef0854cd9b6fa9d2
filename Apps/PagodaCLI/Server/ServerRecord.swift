// ServerRecord: the servers of this user on this machine, one small file each, for `pagoda ps`, `stop`, `top` and
// `list`.
import Foundation
import PagodaKit

/// A running `pagoda serve`.
struct ServerRecord: Hashable {
  var process: Int32
  var url: String
  var model: String
  var started: Date

  /// `servers` in pagoda of XDG_RUNTIME_DIR, or of XDG_STATE_HOME, or in ~/.local/state/pagoda.
  static var folder: String {
    let environment = ProcessInfo.processInfo.environment
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    let home = value("HOME") ?? NSHomeDirectory()
    return (value("XDG_RUNTIME_DIR") ?? value("XDG_STATE_HOME") ?? home + "/.local/state") + "/pagoda/servers"
  }

  private static func path(of process: Int32) -> String { "\(folder)/\(process).json" }

  /// Records that this process is a server. Failing to write the record does not stop the server.
  static func announce(url: String, model: String) {
    let record = JSONValue.object([
      "process": .integer(Int64(getpid())), "url": .string(url), "model": .string(model),
      "started": .integer(Int64(Date().timeIntervalSince1970)),
    ])
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try? Data(record.text.utf8).write(to: URL(filePath: path(of: getpid())), options: .atomic)
  }

  static func withdraw() { unlink(path(of: getpid())) }

  /// Servers whose process exists; files left behind by killed servers are removed.
  static func running() -> [ServerRecord] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { name -> ServerRecord? in
      let path = "\(folder)/\(name)"
      guard name.hasSuffix(".json"), let data = FileManager.default.contents(atPath: path),
        let value = JSONValue.parse(String(decoding: data, as: UTF8.self)),
        let process = value["process"]?.intValue, process > 1, process <= Int64(Int32.max)
      else { return nil }
      guard kill(Int32(process), 0) == 0, isPagoda(Int32(process)) else {
        unlink(path)
        return nil
      }
      return ServerRecord(
        process: Int32(process), url: value["url"]?.stringValue ?? "?", model: value["model"]?.stringValue ?? "?",
        started: Date(timeIntervalSince1970: Double(value["started"]?.intValue ?? 0)))
    }.sorted { $0.started < $1.started }
  }

  /// Process ids are reused: the program must be this one.
  private static func isPagoda(_ process: Int32) -> Bool { programName(of: process) == "pagoda" }

  private static func programName(of process: Int32) -> String? {
    #if canImport(Darwin)
    var path = [CChar](repeating: 0, count: 4 * Int(MAXPATHLEN))
    guard proc_pidpath(process, &path, UInt32(path.count)) > 0 else { return nil }
    return URL(filePath: String(cString: path)).lastPathComponent
    #else
    let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
    return name?.trimmingCharacters(in: .newlines)
    #endif
  }
}
