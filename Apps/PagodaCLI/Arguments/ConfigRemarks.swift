// ConfigRemarks: what a user has configured without effect: files that are not read, and keys that are no options.
import Foundation
import PagodaKit

extension Command {
  /// All commands, also those named by two words.
  package static let withSubcommands = all + [benchServe, benchSpec, benchAgents]
}

extension Defaults {
  /// Names under which people look for the file, which has one format.
  private static let otherNames = ["config", "config.toml", "config.yaml", "config.yml", "config.ini", "config.jsonc"]

  /// Files beside `path` that look as if they were read.
  package static func unreadFiles(besides path: String) -> [String] {
    let folder = (path as NSString).deletingLastPathComponent
    return otherNames.map { "\(folder)/\($0)" }.filter { FileManager.default.fileExists(atPath: $0) }
  }

  /// Sentences for the user; empty if all of the configuration has an effect.
  /// - Parameter path: the file that was read.
  package func remarks(path: String) -> [String] {
    let files = Self.unreadFiles(besides: path).map {
      "\($0) is not read; defaults of options come from \(path), whose format `pagoda help config` shows"
    }
    return files + (file.objectValue ?? []).flatMap { remarks(on: $0, path) }
  }

  private func remarks(on member: JSONValue.Member, _ path: String) -> [String] {
    guard let members = member.value.objectValue else {
      let all = Set(Command.withSubcommands.flatMap(\.options).map(\.name))
      return [remark(member.key, among: all, path)].compactMap { $0 }
    }
    guard let command = Command.withSubcommands.first(where: { $0.name == member.key }) else {
      let near = Command.find([member.key])?.command.name ?? suggestion(for: member.key, among: Command.names)
      return [Self.line("'\(member.key)'", is: "a command's name", near, place(of: [member.key], from: 0, path))]
    }
    return members.compactMap { remark($0.key, among: Set(command.options.map(\.name)), path, of: command.name) }
  }

  private func remark(_ key: String, among options: Set<String>, _ path: String, of command: String? = nil) -> String? {
    let name = key.replacing("_", with: "-")
    let place = place(of: [key], from: command.map(firstLine) ?? 0, path)
    if Self.never.contains(name) { return "\(key) in \(place) has no effect: it belongs on the command line" }
    if options.contains(name) { return nil }
    let near = suggestion(for: name, among: options.subtracting(Self.never).sorted())
    return Self.line("'\(key)'", is: "an option" + (command.map { " of \($0)" } ?? ""), near, place)
  }

  private static func line(_ key: String, is what: String, _ near: String?, _ place: String) -> String {
    "\(key) in \(place) is not \(what)" + (near.map { "; did you mean \($0)?" } ?? "")
  }
}
