// ResponsesRequest: the body of /v1/responses. Stateless: nothing is stored, so nothing can be referred to.
import PagodaKit

struct ResponsesRequest: Sendable {
  var model: String
  var generation: Generation
  var echoed: [JSONValue.Member]  // fields that the response repeats
  var wantsLogprobs = false
  var unknownFields: [String]

  init(_ body: [UInt8], models: ServedModels) throws {
    let fields = try FieldReader(body: body, table: .responses)
    unknownFields = fields.unknown
    model = try models.name(in: fields)
    var conversation = Conversation()
    let instructions = try fields.string("instructions")
    conversation.addSystem(instructions ?? "")
    guard let input = fields["input"] else { throw fields.missing("input") }
    if let text = input.stringValue {
      conversation.addUser(text)
    } else {
      guard let items = try fields.objects("input", maximum: Conversation.maximumMessages), !items.isEmpty else {
        throw APIError.invalid("input is empty", param: "input")
      }
      try conversation.add(responses: items)
    }
    if conversation.messages.isEmpty { throw APIError.invalid("input has no message", param: "input") }

    let (tools, forced) = try fields.toolChoice(try fields.functionTools())
    var thinking = Thinking()
    if let reasoning = try fields.object("reasoning") {
      thinking.apply(effort: try reasoning.choice("effort", of: Thinking.efforts))
    }
    var sampling = try fields.sampling(FieldTable.sampling.subtracting(["max_tokens"]))
    sampling.maximumTokens = try fields.tokenLimit("max_output_tokens")
    sampling.thinkingBudget = sampling.thinkingBudget ?? thinking.budget
    let included = try fields.array("include")?.compactMap(\.stringValue) ?? []
    let count = try fields.integer("top_logprobs", in: 0...20)
    wantsLogprobs = count ?? 0 > 0 || included.contains("message.output_text.logprobs")
    if wantsLogprobs { sampling.topLogProbabilities = count ?? 0 }
    let variables = thinking.variables(beside: try fields.templateVariables(), forced: forced)
    generation = Generation(
      prompts: [.chat(ChatPrompt(messages: conversation.all, tools: tools, variables: variables))], sampling: sampling)
    generation.isStream = try fields.flag("stream") ?? false
    generation.limitField = "max_output_tokens"
    generation.promptField = "input"
    generation.tools = tools
    generation.forcedCall = forced
    generation.strictTools = try fields.strictTools()
    generation.allowsParallelCalls = try fields.allowsParallelCalls()
    generation.grammar = try fields.object("text")?.grammar("format")
    generation.grammarField = "text.format"
    generation.priority = try fields.integer("priority", in: Int64(Int32.min)...Int64(Int32.max)) ?? 0
    generation.cacheSalt = try fields.string("cache_salt", maximumBytes: 64) ?? ""
    echoed = fields.echoed(instructions: instructions)
  }
}

extension FieldReader {
  fileprivate func echoed(instructions: String?) -> [JSONValue.Member] {
    [
      .init(key: "instructions", value: instructions.map { .string($0) } ?? .null),
      .init(key: "max_output_tokens", value: self["max_output_tokens"] ?? .null),
      .init(key: "metadata", value: self["metadata"] ?? .object([])),
      .init(key: "parallel_tool_calls", value: self["parallel_tool_calls"] ?? .bool(true)),
      .init(key: "previous_response_id", value: .null),
      .init(key: "reasoning", value: self["reasoning"] ?? .object(["effort": .null, "summary": .null])),
      .init(key: "store", value: .bool(false)),
      .init(key: "temperature", value: self["temperature"] ?? .null),
      .init(key: "text", value: self["text"] ?? .object(["format": .object(["type": .string("text")])])),
      .init(key: "tool_choice", value: self["tool_choice"] ?? .string("auto")),
      .init(key: "tools", value: self["tools"] ?? .array([])),
      .init(key: "top_p", value: self["top_p"] ?? .null),
      .init(key: "truncation", value: .string("disabled")),
    ]
  }
}

extension Conversation {
  /// Items of a conversation. What one answer consists of (reasoning, text, calls) is one message of the template.
  fileprivate mutating func add(responses items: [FieldReader]) throws {
    var reasoning = ""
    var text: String?
    var calls: [ToolCall] = []
    func flush(_ conversation: inout Conversation) {
      if text == nil && calls.isEmpty && reasoning.isEmpty { return }
      conversation.addAssistant(text ?? "", reasoning: reasoning, calls: calls)
      (reasoning, text, calls) = ("", nil, [])
    }
    for item in items {
      let type = try item.string("type") ?? "message"
      switch type {
      case "message":
        guard let role = try item.choice("role", of: ["system", "developer", "user", "assistant"]) else {
          throw item.missing("role")
        }
        guard let content = try item.content() else { throw item.missing("content") }
        if role == "assistant" {
          if text != nil || !calls.isEmpty { flush(&self) }
          text = content
          continue
        }
        flush(&self)
        if role == "user" { addUser(content) } else { addSystem(content) }
      case "reasoning":
        if text != nil || !calls.isEmpty { flush(&self) }
        reasoning += try item.content(types: ["reasoning_text", "text"]) ?? ""
      case "function_call":
        guard let id = try item.string("call_id", maximumBytes: 256) else { throw item.missing("call_id") }
        guard let name = try item.string("name", maximumBytes: 256) else { throw item.missing("name") }
        calls.append(ToolCall(id: id, name: name, arguments: try item.string("arguments") ?? ""))
      case "function_call_output":
        flush(&self)
        guard let id = try item.string("call_id") else { throw item.missing("call_id") }
        try addToolResult(try item.content("output") ?? "", id: id, field: item.path + "call_id")
      default:
        throw APIError.invalid(
          "\(item.path)type is '\(type.prefix(40))', which this server does not know", param: item.path + "type")
      }
    }
    flush(&self)
  }
}
