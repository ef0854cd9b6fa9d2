// Defaults: values from the configuration file and the environment for options not given on the command line.
import Foundation
import PagodaKit

/// Option values that the user has configured. The command line takes precedence, then the environment, then the file.
package struct Defaults: Sendable {
  package var file: JSONValue = .object([])
  package var fileText = ""
  package var environment: [String: String] = [:]

  package init() {}

  /// `config.json` in PAGODA_CONFIG_DIR, or pagoda in XDG_CONFIG_HOME, or ~/.config/pagoda.
  static var path: String {
    let environment = ProcessInfo.processInfo.environment
    if let folder = environment["PAGODA_CONFIG_DIR"], !folder.isEmpty { return folder + "/config.json" }
    let home = environment["HOME"] ?? NSHomeDirectory()
    let folder = environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? home + "/.config"
    return folder + "/pagoda/config.json"
  }

  static func current() throws -> Defaults {
    var defaults = Defaults()
    defaults.environment = ProcessInfo.processInfo.environment
    if let data = FileManager.default.contents(atPath: path) { try defaults.read(data, of: path) }
    return defaults
  }

  package mutating func read(_ data: Data, of path: String) throws {
    do {
      file = try JSONValue.parse(Array(data))
    } catch {
      let line = data.prefix(error.offset).count { $0 == UInt8(ascii: "\n") } + 1
      throw CommandFailure("\(path) line \(line): \(error.message); `pagoda help config` shows the format")
    }
    if file.objectValue == nil { throw CommandFailure("\(path): is not a JSON object; `pagoda help config` shows one") }
    fileText = String(decoding: data, as: UTF8.self)
  }

  /// `temperature in FILE line 3`: the line of an option's key, after that of the command if it is in its object.
  private func source(of option: String, command: String, path: String) -> String {
    let spellings = [option, option.replacing("-", with: "_")]
    let isOwn = spellings.contains { file[command]?[$0] != nil }
    return "\(option) in \(place(of: spellings, from: isOwn ? firstLine(of: command) : 0, path))"
  }

  /// `FILE line 3`: the first line with one of the keys, from the given line on, which counts from 0.
  func place(of keys: [String], from first: Int, _ path: String) -> String {
    let line = lines.indices.dropFirst(first).first { index in keys.contains { lines[index].contains("\"\($0)\"") } }
    return path + (line.map { " line \($0 + 1)" } ?? "")
  }

  /// The line of a command's object, from 0.
  func firstLine(of command: String) -> Int { lines.firstIndex { $0.contains("\"\(command)\"") } ?? 0 }

  private var lines: [Substring] { fileText.split(separator: "\n", omittingEmptySubsequences: false) }

  /// PAGODA_MAX_TOKENS for --max-tokens.
  package static func variable(_ option: String) -> String {
    "PAGODA_" + option.replacing("-", with: "_").uppercased()
  }

  /// Options that contradict each other: giving one disables the other's default.
  private static let exclusive = ["model": "shape", "shape": "model", "think": "no-think", "no-think": "think"]
  /// Options whose default is not used with some others, which exclude it: one environment then fits every role.
  private static let unusable: [String: Set<String>] = ["prefix-cache-dir": ["pipeline", "pipeline-stages"]]
  /// Accepted only on the command line, because they change what a command does.
  static let never: Set = ["help", "prompt", "prompt-file", "prompt-ids", "decode", "json"]

  /// Adds defaults for the command's options that the user did not give.
  package func apply(to arguments: inout Arguments, of command: Command) throws {
    let takesModel = command.operands.contains("MODEL")
    for option in command.options where !arguments.has(option.name) && !Self.never.contains(option.name) {
      if let other = Self.exclusive[option.name], arguments.has(other) { continue }
      if Self.unusable[option.name]?.contains(where: { isGiven($0, arguments) }) ?? false { continue }
      if option.name == "model" && takesModel && !arguments.positionals.isEmpty { continue }
      if let text = environment[Self.variable(option.name)], !text.isEmpty, !isServiceLink(text, option) {
        try set(option, .string(text), in: &arguments, from: Self.variable(option.name))
      } else if let value = fileValue(option.name, command: command.name) {
        let source = source(of: option.name, command: command.name, path: Self.path)
        try set(option, value, in: &arguments, from: source)
      }
    }
  }

  /// Kubernetes sets PAGODA_PORT to a URL in every pod of a namespace with a service called pagoda.
  private func isServiceLink(_ text: String, _ option: Option) -> Bool {
    option.name == "port" && ["tcp://", "udp://"].contains(where: text.hasPrefix)
  }

  private func isGiven(_ option: String, _ arguments: Arguments) -> Bool {
    arguments.has(option) || !(environment[Self.variable(option)] ?? "").isEmpty
  }

  /// `{"serve": {"port": 9000}, "quantize": "4bit"}`: a value under the command's name takes precedence.
  private func fileValue(_ option: String, command: String) -> JSONValue? {
    let spellings = [option, option.replacing("-", with: "_")]
    for object in [file[command], file] {
      for spelling in spellings { if let value = object?[spelling], value.objectValue == nil { return value } }
    }
    return nil
  }

  private func set(_ option: Option, _ value: JSONValue, in arguments: inout Arguments, from source: String) throws {
    if option.value == nil {
      switch value.boolValue ?? ["1": true, "true": true, "0": false, "false": false][value.stringValue ?? ""] {
      case true?: arguments.values[option.name] = [""]
      case false?: break
      case nil: throw UsageError("\(source) must be true or false")
      }
      return
    }
    arguments.sources[option.name] = source
    let values = value.arrayValue ?? [value]
    arguments.values[option.name] = try values.map { item in
      if let text = item.stringValue { return text }
      guard item.arrayValue == nil, item.objectValue == nil, item != .null else {
        throw UsageError("\(source) must be a text or a number")
      }
      return item.text
    }
  }
}

extension Arguments {
  /// A message about an option, with the source of its value if that is not the command line:
  /// `--temperature is 'x'` becomes `PAGODA_TEMPERATURE is 'x'`.
  package func namingSources(_ message: String) -> String {
    sources.sorted { $0.key.count > $1.key.count }.reduce(message) {
      $0.replacing("--\($1.key) ", with: "\($1.value) ")
    }
  }
}
