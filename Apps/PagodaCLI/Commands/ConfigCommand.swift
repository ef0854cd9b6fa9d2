// pagoda config: shows and changes option defaults.
import Foundation
import PagodaKit

extension Command {
  static let config = Command(
    name: "config",
    summary: "Shows or changes the defaults of options.",
    operands: "[set KEY VALUE | unset KEY]",
    notes: """
      The file is config.json in ~/.config/pagoda (or in $XDG_CONFIG_HOME/pagoda, or in $PAGODA_CONFIG_DIR). Its keys are the
      names of options without the dashes; under the name of a command they apply to that command only:
        {"model": "qwen3.5:4b", "quantize": "4bit", "serve": {"port": 9000}}
      An environment variable such as PAGODA_MODEL or PAGODA_MAX_TOKENS overrides the file; the command line overrides both.
      A KEY is an option (quantize) or an option of a command (serve.port).
      """,
    groups: [],
    run: runConfig)
}

private func runConfig(_ arguments: Arguments) async throws -> Int32 {
  let words = arguments.positionals
  switch (words.first, words.count) {
  case (nil, _): try show()
  case ("set", 3): try change(words[1], to: words[2])
  case ("unset", 2): try change(words[1], to: nil)
  default: throw UsageError("use: pagoda config, pagoda config set KEY VALUE, or pagoda config unset KEY")
  }
  return 0
}

private func show() throws {
  let defaults = try Defaults.current()
  let isThere = FileManager.default.fileExists(atPath: Defaults.path)
  Terminal.write(fittingLine("\(Defaults.path)\(isThere ? "" : " (not there yet)")") + "\n\(defaults.file.text)\n")
  let known = Set(Command.withSubcommands.flatMap(\.options).map { Defaults.variable($0.name) })
  for (name, value) in defaults.environment.sorted(by: { $0.key < $1.key }) where known.contains(name) {
    Terminal.write("\(name)=\(name.contains("KEY") ? "..." : value)\n")
  }
}

private func change(_ key: String, to text: String?) throws {
  let parts = key.split(separator: ".", maxSplits: 1).map(String.init)
  let commands = Command.withSubcommands.filter { parts.count < 2 || $0.name == parts[0] }
  let options = Set(commands.flatMap(\.options).map(\.name)).subtracting(Defaults.never)
  var file = try Defaults.current().file
  // A key that is no option can be removed.
  let isThere = parts.count == 2 ? file[parts[0]]?[parts[1]] != nil : file[key] != nil
  guard let name = parts.last, options.contains(name) || (text == nil && isThere) else {
    let near = suggestion(for: parts.last ?? "", among: options.sorted())
    throw UsageError(
      "'\(key)' is not an option that can have a default" + (near.map { "; did you mean \($0)?" } ?? ""))
  }
  if let text {
    for command in commands { try validate(name, text, of: command) }
  }
  let value = text.map { JSONValue.parse($0).flatMap { $0.objectValue == nil ? $0 : nil } ?? .string($0) }
  if parts.count == 2 {
    file = file.setting(parts[0], to: (file[parts[0]] ?? .object([])).setting(parts[1], to: value))
  } else {
    file = file.setting(name, to: value)
  }
  let folder = (Defaults.path as NSString).deletingLastPathComponent
  do {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data((file.text + "\n").utf8).write(to: URL(filePath: Defaults.path), options: .atomic)
  } catch {
    throw CommandFailure("\(Defaults.path): cannot be written: \(error.localizedDescription)")
  }
  Terminal.write("\(file.text)\n")
}

/// Refuses a value that the command would refuse.
private func validate(_ name: String, _ text: String, of command: Command) throws {
  guard let option = command.options.first(where: { $0.name == name }) else { return }
  guard option.value != nil else {
    if !["true", "false"].contains(text) { throw UsageError("\(name) is '\(text)'; it must be true or false") }
    return
  }
  var arguments = Arguments()
  arguments.values[name] = [text]
  do {
    _ = try arguments.samplingParameters()
    if SharedOptions.engine.options.contains(where: { $0.name == name }) { _ = try arguments.engineOptions() }
    if command.name == Command.serve.name { try checkServeOptions(arguments) }
    if name == "context-policy" { _ = try arguments.choice(name, ContextPolicy.self) }
  } catch let error as UsageError {
    throw UsageError(error.message.replacing("--", with: ""))
  } catch let error as FieldError {
    throw UsageError(error.message.replacing("--", with: ""))
  }
}

extension JSONValue {
  /// An object with one member changed, added, or (nil) removed.
  fileprivate func setting(_ key: String, to value: JSONValue?) -> JSONValue {
    var members = objectValue ?? []
    let index = members.firstIndex { $0.key == key }
    switch (index, value) {
    case (let index?, let value?): members[index].value = value
    case (nil, let value?): members.append(Member(key: key, value: value))
    case (let index?, nil): members.remove(at: index)
    case (nil, nil): break
    }
    return .object(members)
  }
}
