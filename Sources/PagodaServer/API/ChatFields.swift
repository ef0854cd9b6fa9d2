// Fields that the chat endpoints share: content, tools, formats, template variables, thinking.
import PagodaKit

extension FieldReader {
  /// Text as a string or as an array of text parts. `types` are the type names of text parts.
  func content(_ key: String = "content", types: [String] = ["text", "input_text", "output_text"]) throws -> String? {
    try parts(key, types: types, readsImages: false).map { Message(role: .user, parts: $0).content }
  }

  /// Text and images, as a string or as an array of parts.
  func parts(
    _ key: String = "content", types: [String] = ["text", "input_text", "output_text"], readsImages: Bool = true
  ) throws -> [Message.Part]? {
    guard let value = self[key] else { return nil }
    if let text = value.stringValue { return [.text(text)] }
    guard let parts = try? objects(key, maximum: 10_000) else {
      throw APIError.invalid("\(path)\(key) must be a string or an array of parts", param: path + key)
    }
    return try parts.map { part in
      let type = try part.string("type") ?? ""
      if type == "refusal" { return .text(try part.string("refusal") ?? "") }
      if readsImages, let image = try part.image(type) { return .image(image) }
      if let remark = try part.mediaRemark(type) { return .text(remark) }
      guard types.contains(type) else {
        throw APIError.invalid(
          "\(part.path)type is '\(type.prefix(40))'; this model reads \(part.readable) only", param: part.path + "type")
      }
      guard let text = try part.string("text") else { throw part.missing("text") }
      return .text(text)
    }
  }

  /// OpenAI's legacy tools: `functions`, and `function_call` instead of `tool_choice`. Nil if they are not used.
  func legacyFunctions() throws -> (tools: [JSONValue], forced: ForcedCall?)? {
    guard let list = try objects("functions", maximum: 1024) else {
      if self["function_call"] != nil, self["function_call"] != .string("none") {
        throw APIError.invalid("function_call needs functions", param: "function_call")
      }
      return nil
    }
    if list.isEmpty { throw APIError.invalid("functions is empty", param: "functions") }
    if self["tools"] != nil { throw APIError.invalid("functions and tools exclude each other", param: "functions") }
    let tools = try list.map { try $0.function(parameters: "parameters") }
    switch self["function_call"] {
    case nil, .string("auto")?: return (tools, nil)
    case .string("none")?: return ([], nil)
    case let choice?:
      guard let name = choice["name"]?.stringValue,
        tools.contains(where: { $0["function"]?["name"]?.stringValue == name })
      else {
        throw APIError.invalid("function_call must be none, auto or a function of functions", param: "function_call")
      }
      return (tools, .named(name))
    }
  }

  /// Whether an answer may contain several calls: OpenAI's field, or Anthropic's inside `tool_choice`.
  func allowsParallelCalls() throws -> Bool {
    if let choice = self["tool_choice"]?.objectValue {
      let reader = FieldReader(choice, path: path + "tool_choice.")
      if try reader.flag("disable_parallel_tool_use") ?? false { return false }
    }
    return try flag("parallel_tool_calls") ?? true
  }

  /// The name of a tool. It is part of the text that the model reads and writes, so it must not contain tags or control
  /// tokens. OpenAI allows letters, digits, _ and -; the other signs occur in names of MCP tools.
  func toolName() throws -> String {
    guard let name = try string("name", maximumBytes: 128), !name.isEmpty else { throw missing("name") }
    let isPlain = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"):
        true
      default: "_-./:".utf8.contains(byte)
      }
    }
    if isPlain { return name }
    throw APIError.invalid(
      "\(path)name is \(JSONValue.string(name).shortText); it must be letters, digits, and the signs _ - . / :",
      param: path + "name")
  }

  /// A function with its name, description and the schema under the given key.
  func function(parameters key: String) throws -> JSONValue {
    let name = try toolName()
    var members = [JSONValue.Member(key: "name", value: .string(name))]
    if let text = try string("description") { members.append(.init(key: "description", value: .string(text))) }
    if let schema = try object(key) { members.append(.init(key: "parameters", value: .object(schema.members))) }
    return .object(["type": .string("function"), "function": .object(members)])
  }

  /// `tool_choice` of any of the APIs: the tools that may be called, and the call that is required.
  func toolChoice(_ tools: [JSONValue]) throws -> (tools: [JSONValue], forced: ForcedCall?) {
    guard let value = self["tool_choice"] else { return (tools, nil) }
    if value["type"]?.stringValue == "allowed_tools" { return try allowedTools(value, of: tools) }
    let name = (value["function"] ?? value["custom"] ?? value)["name"]?.stringValue
    switch value.stringValue ?? value["type"]?.stringValue {
    case "none": return ([], nil)
    case "auto": return (tools, nil)
    case "required", "any":
      if tools.isEmpty { throw APIError.invalid("tool_choice needs tools", param: "tool_choice") }
      return (tools, .any)
    case let type? where ["function", "tool", "custom"].contains(type) || ToolKind(rawValue: type) != nil:
      guard let name = name ?? (ToolKind(rawValue: type) == nil ? nil : type),
        tools.contains(where: { $0["function"]?["name"]?.stringValue == name })
      else {
        throw APIError.invalid("tool_choice names no function of tools", param: "tool_choice")
      }
      return (tools, .named(name))
    default:
      throw APIError.invalid("tool_choice must be none, auto, required or a function", param: "tool_choice")
    }
  }

  /// A choice of some of the tools: OpenAI's chat completions wrap it, responses do not.
  private func allowedTools(_ value: JSONValue, of tools: [JSONValue]) throws -> ([JSONValue], ForcedCall?) {
    let choice = FieldReader((value["allowed_tools"] ?? value).objectValue ?? [], path: path + "tool_choice.")
    guard let list = try choice.objects("tools", maximum: 1024), !list.isEmpty else { throw choice.missing("tools") }
    let allowed = try list.map { tool in
      let named = try tool.object("function") ?? tool.object("custom") ?? tool
      let type = try tool.string("type").flatMap { ToolKind(rawValue: $0) }
      guard let name = try named.string("name") ?? type?.rawValue else { throw tool.missing("name") }
      guard let known = tools.first(where: { $0["function"]?["name"]?.stringValue == name }) else {
        throw APIError.invalid("tool_choice allows '\(name.prefix(60))', which is none of tools", param: "tool_choice")
      }
      return known
    }
    let isForced = try choice.choice("mode", of: ["auto", "required"]) == "required"
    return (allowed, isForced ? .any : nil)
  }

  /// vLLM's constraints on the answer, under their old names and inside `structured_outputs`; nil without any.
  func guidedGrammar() throws -> (Request.Grammar, field: String)? {
    let old = [
      ("guided_json", "json"), ("guided_regex", "regex"), ("guided_choice", "choice"), ("guided_grammar", "grammar"),
    ]
    var found = try old.compactMap { key, kind in try self[key].map { (try Self.guided(kind, $0, key), key) } }
    if let outputs = try object("structured_outputs") {
      for member in outputs.members where member.value != .null {
        if ["whitespace_pattern", "disable_any_whitespace"].contains(member.key) { continue }
        let isFlag = !["json", "regex", "choice", "grammar"].contains(member.key)
        if isFlag && member.value == .bool(false) { continue }
        let field = "structured_outputs.\(member.key.prefix(60))"
        found.append((try Self.guided(member.key, member.value, field), "structured_outputs"))
      }
    }
    if found.count > 1 {
      throw APIError.invalid("\(found[1].1) excludes other constraints of the answer", param: found[1].1)
    }
    return found.first.map { ($0.0, field: $0.1) }
  }

  private static func guided(_ kind: String, _ value: JSONValue, _ field: String) throws -> Request.Grammar {
    let param = field.hasPrefix("structured_outputs") ? "structured_outputs" : field
    func text() throws -> String {
      guard let text = value.stringValue else { throw APIError.invalid("\(field) must be a string", param: param) }
      return text
    }
    switch kind {
    case "json": return try schema(value, field)
    case "json_object":
      guard value == .bool(true) else { throw APIError.invalid("\(field) must be true or false", param: param) }
      return .jsonObject
    case "regex": return .regularExpression(try text())
    case "grammar": return .gbnf(try text())
    case "choice":
      let texts = value.arrayValue?.compactMap(\.stringValue) ?? []
      guard !texts.isEmpty, texts.count == value.arrayValue?.count else {
        throw APIError.invalid("\(field) must be an array of strings", param: param)
      }
      return .choice(texts)
    default:
      throw APIError.invalid(
        "\(field) is not supported by this server; json, json_object, regex, choice and grammar are", param: param)
    }
  }

  /// A schema as an object, or as the text of one.
  private static func schema(_ value: JSONValue, _ field: String) throws -> Request.Grammar {
    let schema = value.stringValue.flatMap { JSONValue.parse($0) } ?? value
    guard schema.objectValue != nil else {
      throw APIError.invalid("\(field) must be a JSON schema", param: field)
    }
    return .jsonSchema(schema.text)
  }

  /// The constraint given by `type` of an object such as `response_format`; `schema` is in it or in `json_schema`.
  func grammar(_ key: String) throws -> Request.Grammar? {
    guard let format = try object(key) else { return nil }
    let wrapped = try format.object("json_schema")
    // Wrong kinds are refused also where the type does not use the member.
    let own = try format.formatSchema()
    let schema = try wrapped.map { try $0.formatSchema() } ?? own
    switch try format.choice("type", of: ["text", "json_object", "json_schema"]) {
    case "text": return nil
    case "json_object": return .jsonObject
    case "json_schema":
      guard let schema else { throw (wrapped ?? format).missing("schema") }
      return .jsonSchema(schema.text)
    default: throw format.missing("type")
    }
  }

  /// The schema of a format, if it has one.
  private func formatSchema() throws -> JSONValue? {
    _ = (try string("name"), try flag("strict"))
    guard let schema = self["schema"] else { return nil }
    if schema.objectValue != nil || schema.boolValue != nil { return schema }
    throw APIError.invalid("\(path)schema must be an object", param: path + "schema")
  }

  /// Variables for the chat template: plain values only, and none that the server sets itself.
  func templateVariables() throws -> [JSONValue.Member] {
    guard let reader = try object("chat_template_kwargs") else { return [] }
    let own: Set<String> = ["messages", "tools", "add_generation_prompt", "chat_template", "documents"]
    for member in reader.members {
      let field = reader.path + member.key.prefix(60)
      if own.contains(member.key) || member.key.hasPrefix("_") {
        throw APIError.invalid("\(field) cannot be set by a request", param: field)
      }
      if member.value.arrayValue != nil || member.value.objectValue != nil {
        throw APIError.invalid("\(field) must be a string, a number, true or false", param: field)
      }
    }
    return reader.members
  }
}

/// Whether and how long the model thinks before it answers.
struct Thinking {
  var isOn: Bool?
  var budget: Int?

  static let efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]

  mutating func apply(effort: String?) {
    switch effort {
    case nil: break
    case "none", "minimal": isOn = false
    case "low": (isOn, budget) = (true, 1024)
    case "medium": (isOn, budget) = (true, 8192)
    default: isOn = true
    }
  }

  /// The chat template's variable. A forced call, or a prefilled answer, is made without thinking unless the
  /// request enables it.
  func variables(
    beside given: [JSONValue.Member], forced: ForcedCall? = nil, continued: Continued? = nil
  ) -> [JSONValue.Member] {
    let isBegun = forced != nil || continued?.reasoning == ""
    guard let isOn = isOn ?? (isBegun ? false : nil), !given.contains(where: { $0.key == "enable_thinking" })
    else { return given }
    return given + [.init(key: "enable_thinking", value: .bool(isOn))]
  }
}
