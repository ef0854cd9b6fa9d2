// ToolList: the tools of a request: what the model sees of them, and how their calls look to the client.
import PagodaKit

/// How a call is answered if it is not a call of a function.
enum ToolKind: String, Sendable {
  /// OpenAI's custom tools: the input is text.
  case custom
  // OpenAI's tools that the client runs itself.
  case localShell = "local_shell"
  case shell
  case applyPatch = "apply_patch"
}

struct ToolList: Sendable {
  /// In the shape of chat completions, as templates read them.
  var functions: [JSONValue] = []
  /// By name; functions have none.
  var kinds: [String: ToolKind] = [:]
  /// Names of tools whose arguments must match their schemas.
  var strict: Set<String> = []
  /// Schemas that are enforced instead of those that the model sees.
  var enforced: [String: JSONValue] = [:]
  /// Tools that were left out, as `tools.TYPE`, for the header of ignored fields.
  var ignored: [String] = []

  /// Tools that other servers run themselves and that agents offer to every server. All others are refused.
  private static let leftOut = ["web_search", "web_fetch", "image_generation", "tool_search"]

  fileprivate mutating func add(_ function: JSONValue, kind: ToolKind? = nil, isStrict: Bool, _ tool: FieldReader)
    throws
  {
    let name = function["function"]?["name"]?.stringValue ?? ""
    if (kind != nil || kinds[name] != nil)
      && functions.contains(where: { $0["function"]?["name"]?.stringValue == name })
    {
      throw APIError.invalid("\(tool.path)name: there is another tool named '\(name)'", param: tool.path + "name")
    }
    functions.append(function)
    kinds[name] = kind ?? kinds[name]
    if isStrict { strict.insert(name) }
  }

  /// A tool of another server: noted if agents offer it everywhere, otherwise refused.
  fileprivate mutating func leaveOut(_ type: String, _ tool: FieldReader) throws {
    if Self.leftOut.contains(where: { type.hasPrefix($0) }) { return ignored.append("tools.\(type)") }
    let reason =
      type.hasPrefix("computer")
      ? "it needs a model that sees screenshots"
      : "this server runs no tools itself; use a function, whose calls the client answers"
    throw APIError.invalid(
      "\(tool.path)type is '\(type.prefix(40))', which is not supported: \(reason)", param: tool.path + "type")
  }
}

extension FieldReader {
  /// `tools` of chat completions, or of responses, which have more types.
  func toolList(isChat: Bool = false) throws -> ToolList {
    var list = ToolList()
    for tool in try objects("tools", maximum: 1024) ?? [] {
      let type = try tool.string("type") ?? "function"
      switch type {
      case "function":
        let function = try tool.object("function") ?? tool  // chat completions wrap it, responses do not
        try list.add(
          try function.function(parameters: "parameters"), isStrict: try function.flag("strict") ?? false, function)
      case "custom": try list.addCustom(try tool.object("custom") ?? tool)
      case _ where !isChat && ToolKind(rawValue: type) != nil:
        if type == "shell", let environment = try tool.object("environment")?.string("type"), environment != "local" {
          throw APIError.invalid(
            "\(tool.path)environment.type is '\(environment.prefix(40))'; this server has no containers, so it must be local",
            param: tool.path + "environment")
        }
        try list.add(TypedTools.openAI(type), kind: ToolKind(rawValue: type), isStrict: true, tool)
      default: try list.leaveOut(type, tool)
      }
    }
    return list
  }

  /// Anthropic's `tools`. Those that it defines by type and version are functions with documented inputs.
  func anthropicToolList() throws -> ToolList {
    var list = ToolList()
    for tool in try objects("tools", maximum: 1024) ?? [] {
      let type = try tool.string("type") ?? "custom"
      if type == "custom" {
        let isStrict = try tool.flag("strict") ?? false
        try list.add(try tool.function(parameters: "input_schema"), isStrict: isStrict, tool)
      } else if let (text, schema) = TypedTools.anthropic(type) {
        try list.add(TypedTools.function(try tool.toolName(), text, schema), isStrict: true, tool)
      } else {
        try list.leaveOut(type, tool)
      }
    }
    return list
  }
}

extension ToolList {
  /// A custom tool becomes a function with one text. Its format is shown to the model in the client's words, and
  /// enforced as a pattern.
  fileprivate mutating func addCustom(_ tool: FieldReader) throws {
    let name = try tool.toolName()
    var about = "The input of the tool as text."
    var input: [JSONValue.Member] = [.init(key: "type", value: .string("string"))]
    if let format = try tool.object("format"), try format.choice("type", of: ["text", "grammar"]) == "grammar" {
      let grammar = try format.object("grammar") ?? format
      guard let syntax = try grammar.choice("syntax", of: ["lark", "regex"]) else { throw grammar.missing("syntax") }
      guard let definition = try grammar.string("definition", maximumBytes: 64 << 10) else {
        throw grammar.missing("definition")
      }
      about = "Text that matches this \(syntax == "lark" ? "Lark grammar" : "regular expression"):\n\(definition)"
      let pattern: String
      do {
        pattern = try syntax == "lark" ? LarkGrammar.pattern(definition) : definition
        if !isClosed(pattern) { throw LarkGrammar.Refusal(message: "a ')' closes no group") }
      } catch let error as LarkGrammar.Refusal {
        throw APIError.invalid("\(grammar.path)definition: \(error.message)", param: grammar.path + "definition")
      }
      input.append(.init(key: "pattern", value: .string("^(?:\(pattern))$")))
      enforced[name] = TypedTools.object(["input": .object(input)])
    }
    let shown = JSONValue.object(["type": .string("string"), "description": .string(about)])
    let text = try tool.string("description") ?? ""
    try add(
      TypedTools.function(name, text, TypedTools.object(["input": shown])), kind: .custom, isStrict: true, tool)
  }
}

extension ToolCall {
  init(id: String, name: String, customInput: String) {
    self.init(id: id, name: name, arguments: JSONValue.object(["input": .string(customInput)]).text)
  }

  /// The text of a call of a custom tool.
  var customInput: String { JSONValue.parse(arguments)?["input"]?.stringValue ?? arguments }
}

/// Whether a regular expression closes no group that it has not opened, and so stays one part of a longer expression.
private func isClosed(_ pattern: String) -> Bool {
  var depth = 0, isClass = false, isEscaped = false
  for sign in pattern.unicodeScalars {
    defer { isEscaped = sign == "\\" && !isEscaped }
    if isEscaped { continue }
    switch sign {
    case "[": isClass = true
    case "]": isClass = false
    case "(" where !isClass: depth += 1
    case ")" where !isClass: depth -= 1
    default: break
    }
    if depth < 0 { return false }
  }
  return true
}
