// Defaults: values from the configuration file and the environment for options not given on the command line.
import Foundation
import PagodaKit

/// Option values that the user has configured. The command line takes precedence, then the environment, then the file.
package struct Defaults: Sendable {
  package var file: JSONValue = .object([])
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
    if let data = FileManager.default.contents(atPath: path) {
      guard let value = JSONValue.parse(String(decoding: data, as: UTF8.self)), value.objectValue != nil else {
        throw CommandFailure("\(path): is not a JSON object; `pagoda config` explains it")
      }
      defaults.file = value
    }
    return defaults
  }

  /// PAGODA_MAX_TOKENS for --max-tokens.
  package static func variable(_ option: String) -> String {
    "PAGODA_" + option.replacing("-", with: "_").uppercased()
  }

  /// Options that contradict each other: giving one disables the other's default.
  private static let exclusive = ["model": "shape", "shape": "model", "think": "no-think", "no-think": "think"]
  /// Options whose default is not used with some others, which exclude it: one environment then fits every role.
  private static let unusable: [String: Set<String>] = ["prefix-cache-dir": ["pipeline", "pipeline-stages"]]
  /// Accepted only on the command line, because they change what a command does.
  private static let never: Set = ["help", "prompt", "prompt-file", "prompt-ids", "decode", "json"]

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
        try set(option, value, in: &arguments, from: Self.path)
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
      case nil: throw UsageError("\(source): \(option.name) must be true or false")
      }
      return
    }
    let values = value.arrayValue ?? [value]
    arguments.values[option.name] = try values.map { item in
      if let text = item.stringValue { return text }
      guard item.arrayValue == nil, item.objectValue == nil, item != .null else {
        throw UsageError("\(source): \(option.name) must be a text or a number")
      }
      return item.text
    }
  }
}
