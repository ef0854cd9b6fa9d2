// The grammar of an answer with tools: which calls are required or allowed, and how the model writes them.
import PagodaKit

extension Generation {
  /// Nil if nothing must be enforced. The prompt shows the call format that the template asked for.
  func callGrammar(prompt: String) -> String? {
    guard !tools.isEmpty,
      forcedCall != nil || request.grammar != nil || !toolList.strict.isEmpty || !allowsParallelCalls
    else {
      return nil
    }
    var members: [JSONValue.Member] = [
      .init(key: "format", value: .string(prompt.contains("<function=") ? "xml" : "json")),
      .init(key: "mode", value: .string(forcedCall == nil ? "auto" : "required")),
      .init(key: "parallel", value: .bool(allowsParallelCalls)), .init(key: "tools", value: .array(callable)),
    ]
    switch request.grammar {
    case nil: break
    case .jsonObject:
      let any: JSONValue = .object(["type": .string("object"), "additionalProperties": .bool(true)])
      members.append(.init(key: "value", value: any))
    case .regularExpression, .choice, .gbnf: break  // refused together with tools: see Generation.check()
    case .jsonSchema(let schema): members.append(.init(key: "value", value: JSONValue.parse(schema) ?? .bool(true)))
    }
    return JSONValue.object(members).text
  }

  /// The tools that may be called, as the core reads them.
  private var callable: [JSONValue] {
    tools.compactMap { tool in
      guard let function = tool["function"], let name = function["name"]?.stringValue else { return nil }
      if case .named(let only) = forcedCall, only != name { return nil }
      var members: [JSONValue.Member] = [
        .init(key: "name", value: .string(name)), .init(key: "strict", value: .bool(toolList.strict.contains(name))),
      ]
      if let parameters = toolList.enforced[name] ?? function["parameters"] {
        members.append(.init(key: "parameters", value: parameters))
      }
      return .object(members)
    }
  }
}
