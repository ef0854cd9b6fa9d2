// A required tool call as a grammar of the core.

extension Request {
  /// Nil if no call is required. `tools` are in OpenAI's format; the prompt shows the call format that the template
  /// asked for.
  func requiredCalls(of tools: [JSONValue], prompt: String) throws -> String? {
    var only: String?
    switch toolChoice {
    case .automatic: return nil
    case .required: break
    case .named(let name): only = name
    }
    let callable = tools.compactMap { tool -> JSONValue? in
      guard let function = tool["function"], let name = function["name"]?.stringValue else { return nil }
      if let only, only != name { return nil }
      var members: [JSONValue.Member] = [.init(key: "name", value: .string(name))]
      if let parameters = function["parameters"] { members.append(.init(key: "parameters", value: parameters)) }
      return .object(members)
    }
    if callable.isEmpty {
      throw PagodaError.invalidArgument(
        only.map { "a call of '\($0)' is required, but no tool has that name" }
          ?? "a tool call is required, but the request has no tools")
    }
    return JSONValue.object([
      .init(key: "format", value: .string(prompt.contains("<function=") ? "xml" : "json")),
      .init(key: "mode", value: .string("required")), .init(key: "parallel", value: .bool(only == nil)),
      .init(key: "tools", value: .array(callable)),
    ]).text
  }
}
