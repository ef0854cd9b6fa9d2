// Completer: the words that may follow on a command line; the shells' scripts ask it for them.
import Foundation
import PagodaHub
import PagodaKit

package struct Completer {
  package var commands: [Command]
  package var models: [String]

  package init(commands: [Command], models: [String]) {
    self.commands = commands
    self.models = models
  }

  /// Completions of the last word of a line that starts with the program's name. Empty if a file may be meant.
  package func words(for line: String) -> [String] {
    var words = line.split(separator: " ", omittingEmptySubsequences: true).map(String.init).dropFirst()
    let partial = line.last == " " ? "" : words.popLast() ?? ""
    return candidates(after: Array(words), partial).filter { $0.hasPrefix(partial) }
  }

  private func candidates(after words: [String], _ partial: String) -> [String] {
    guard let first = words.first else { return Command.names + ["help", "version"] }
    if first == "help" { return words.count == 1 ? Command.names : [] }
    guard let (command, count) = Command.find(words) else { return [] }
    let operands = words.dropFirst(count).filter { !$0.hasPrefix("-") }
    if let last = words.last, words.count > count, let option = option(last, of: command), option.value != nil {
      return values(of: option)
    }
    if partial.hasPrefix("-") { return (command.options + [.help]).map { "--" + $0.name } }
    switch command.name {
    case "bench" where words.count == 1: return ["serve", "spec", "agents"]
    case "config":
      if operands.isEmpty { return ["set", "unset"] }
      return operands.count == 1 ? Set(commands.flatMap(\.options).map(\.name)).sorted() : []
    case "completions": return operands.isEmpty ? ["bash", "zsh", "fish"] : []
    case "rm": return operands.isEmpty ? models.filter { $0.contains("/") } : []
    default: return command.operands.contains("MODEL") && operands.isEmpty ? models : []
    }
  }

  private func option(_ word: String, of command: Command) -> Option? {
    command.options.first { word == "--" + $0.name || (word.count == 2 && word.first == "-" && word.last == $0.short) }
  }

  private func values(of option: Option) -> [String] {
    switch option.name {
    case "model": models
    case "device": ["auto", "cpu", "metal", "cuda", "software", "reference"]
    case "dtype": ["auto"] + EngineOptions.WeightFormat.allCases.map(\.rawValue)
    case "kv-dtype": ["auto"] + EngineOptions.CacheFormat.allCases.map(\.rawValue)
    case "state-dtype": EngineOptions.StateFormat.allCases.map(\.rawValue)
    case "quantize": EngineOptions.Quantization.allCases.map(\.rawValue)
    case "speculate": EngineOptions.Speculation.allCases.map(\.rawValue)
    case "context-policy": ContextPolicy.allCases.map(\.rawValue)
    case "block-size": ["8", "16", "32"]
    case "bits": ["4", "8"]
    default: []
    }
  }

  /// The embedded model, those on this machine, and the short names that can be downloaded.
  static func knownModels() -> [String] {
    let cached = HubCache(folder: HubSettings.current.cacheFolder).models().map(\.repository)
    let short = ModelFamily.all.flatMap { family in family.sizes.map { "\(family.name):\($0.lowercased())" } }
    return ["mini"] + cached + ForeignModel.all().map(\.name) + short
  }
}
