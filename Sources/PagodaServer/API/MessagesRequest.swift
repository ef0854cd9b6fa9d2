// MessagesRequest: the body of Anthropic's /v1/messages, and of its count_tokens.
import PagodaKit

struct MessagesRequest: Sendable {
  var model: String
  var generation: Generation
  var chat: ChatPrompt
  var unknownFields: [String]

  /// `counts` is for count_tokens, which needs no limit.
  init(_ body: [UInt8], models: ServedModels, seal: ReasoningSeal, counts: Bool = false) throws {
    let fields = try FieldReader(body: body, table: counts ? .countTokens : .messages).withMedia(models)
    unknownFields = fields.unknown
    model = try models.name(in: fields)
    guard let list = try fields.objects("messages", maximum: Conversation.maximumMessages), !list.isEmpty else {
      throw fields.missing("messages")
    }
    var conversation = try Conversation(anthropic: list, seal: seal)
    if let system = try fields.content("system") { conversation.addSystem(Self.stable(system)) }
    var sampling = try fields.sampling(["temperature", "top_k", "top_p", "min_p", "seed"])
    let limit = try fields.tokenLimit("max_tokens")
    if limit == nil && !counts { throw fields.missing("max_tokens") }
    sampling.maximumTokens = limit
    if let stops = try fields.array("stop_sequences") {
      let texts = stops.compactMap(\.stringValue)
      if texts.count != stops.count {
        throw APIError.invalid("stop_sequences must be strings", param: "stop_sequences")
      }
      sampling.stopStrings = try SamplingField.checkStops(texts, "stop_sequences")
    }
    let thinking = try Self.thinking(fields)
    // Anthropic's prefilled answer: the last message is the assistant's.
    let continued = try list.last?.string("role") == "assistant" ? try conversation.takeContinued() : nil
    if continued != nil, thinking.isOn == true {
      throw APIError.invalid("the answer cannot be begun for a model that thinks", param: "thinking")
    }
    sampling.thinkingBudget = thinking.budget
    let toolList = try fields.anthropicToolList()
    unknownFields += toolList.ignored + (fields.media?.ignored ?? [])
    let (tools, forced) = try fields.toolChoice(toolList.functions)
    let variables = thinking.variables(beside: try fields.templateVariables(), forced: forced, continued: continued)
    chat = conversation.prompt(tools: tools, variables: variables)
    generation = Generation(prompts: [.chat(chat)], sampling: sampling)
    generation.isStream = try fields.flag("stream") ?? false
    generation.request.lora = try models.adapter(in: fields)
    generation.tools = tools
    generation.forcedCall = forced
    generation.toolList = toolList
    generation.allowsParallelCalls = try fields.allowsParallelCalls()
    generation.continued = continued
    generation.grammarField = fields["output_format"] == nil ? "output_config" : "output_format"
    let config = try fields.object("output_config")
    _ = try config?.choice("effort", of: Thinking.efforts)
    let grammar = try config?.grammar("format")  // checked also beside `output_format`, which counts
    generation.request.grammar = try fields.grammar("output_format") ?? grammar
    try generation.checkContinued()
  }

  /// Claude Code puts a line into the system prompt that differs between turns; without it the prefix stays the same.
  private static func stable(_ system: String) -> String {
    guard system.contains("x-anthropic-billing-header") else { return system }
    return system.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.hasPrefix("x-anthropic-billing-header") }.joined(separator: "\n")
  }

  private static func thinking(_ fields: FieldReader) throws -> Thinking {
    guard let reader = try fields.object("thinking") else { return Thinking() }
    guard let type = try reader.choice("type", of: ["enabled", "disabled", "adaptive"]) else {
      throw reader.missing("type")
    }
    if type == "adaptive" {
      // The effort sets how much the model thinks, not whether it thinks.
      var thinking = Thinking()
      thinking.apply(effort: try fields.object("output_config")?.choice("effort", of: Thinking.efforts))
      return thinking.isOn == true ? Thinking(isOn: nil, budget: thinking.budget) : Thinking()
    }
    let budget = try reader.integer("budget_tokens", in: 1...Int64(Int32.max))
    return Thinking(isOn: type == "enabled", budget: type == "enabled" ? budget : nil)
  }
}

extension Conversation {
  /// Anthropic's `messages`: content blocks of text, thinking, tool use and tool results.
  fileprivate init(anthropic list: [FieldReader], seal: ReasoningSeal) throws {
    self.init()
    for message in list {
      guard let role = try message.choice("role", of: ["user", "assistant", "system"]) else {
        throw message.missing("role")
      }
      guard let content = message["content"] else { throw message.missing("content") }
      if role == "system" {
        addSystem(try message.content() ?? "")
      } else if let text = content.stringValue {
        if role == "user" { addUser(text) } else { addAssistant(text, reasoning: nil, calls: []) }
      } else if role == "user" {
        try addUser(blocks: message)
      } else {
        try addAssistant(blocks: message, seal)
      }
    }
  }

  /// Results of tools come first, then the user's text.
  private mutating func addUser(blocks message: FieldReader) throws {
    var parts: [Message.Part] = []
    /// Blocks of text are separate lines.
    func append(_ text: String) {
      guard case .text(let last)? = parts.last else { return parts.append(.text(text)) }
      parts[parts.count - 1] = .text(last + "\n" + text)
    }
    for block in try message.objects("content", maximum: 10_000) ?? [] {
      switch try block.string("type") {
      case "text": append(try block.string("text") ?? "")
      case "document": append(try block.documentText())
      case let type? where type.hasSuffix("_tool_result"): append(block.remark(type))
      case "tool_result":
        guard let id = try block.string("tool_use_id") else { throw block.missing("tool_use_id") }
        let isError = try block.flag("is_error") ?? false
        let result = try block.parts() ?? []
        try addToolResult((isError ? [.text("Error: ")] : []) + result, id: id, field: block.path + "tool_use_id")
      case let type:
        if let image = try block.image(type ?? "") {
          parts.append(.image(image))
        } else {
          guard let remark = try block.mediaRemark(type ?? "") else { throw Self.unreadable(block) }
          append(remark)
        }
      }
    }
    if !parts.isEmpty { addUser(parts) }
  }

  private mutating func addAssistant(blocks message: FieldReader, _ seal: ReasoningSeal) throws {
    var text = ""
    var reasoning = ""
    var calls: [ToolCall] = []
    for block in try message.objects("content", maximum: 10_000) ?? [] {
      switch try block.string("type") {
      case "text": text += try block.string("text") ?? ""
      case "thinking":
        let text = try block.string("thinking") ?? ""
        if let signature = try block.string("signature"), seal.isForged(signature, of: text) {
          throw APIError.invalid("\(block.path)signature is not of this thinking", param: block.path + "signature")
        }
        reasoning += text
      case "redacted_thinking": break
      // Actions of Anthropic's own servers: a remark in the text.
      case let type? where type == "server_tool_use" || type == "mcp_tool_use" || type.hasSuffix("_tool_result"):
        text += (text.isEmpty || text.hasSuffix("\n") ? "" : "\n") + block.remark(type) + "\n"
      case "tool_use":
        guard let id = try block.string("id", maximumBytes: 256) else { throw block.missing("id") }
        guard let name = try block.string("name", maximumBytes: 256) else { throw block.missing("name") }
        let input = try block.object("input")?.members ?? []
        calls.append(ToolCall(id: id, name: name, arguments: JSONValue.object(input).text))
      case let type:
        guard let remark = try block.mediaRemark(type ?? "") else { throw Self.unreadable(block) }
        text += remark
      }
    }
    addAssistant(text, reasoning: reasoning, calls: calls)
  }

  private static func unreadable(_ block: FieldReader) -> APIError {
    let type = (try? block.string("type")) ?? ""
    return .invalid(
      "\(block.path)type is '\(type.prefix(40))'; this model reads \(block.readable) only", param: block.path + "type")
  }
}

extension FieldReader {
  /// A document's text if it has one, otherwise its title.
  fileprivate func documentText() throws -> String {
    let title = try string("title").map { "\($0)\n" } ?? ""
    guard let source = try object("source") else { throw missing("source") }
    switch try source.string("type") {
    case "text": return title + (try source.string("data") ?? "")
    case "content": return title + (try source.content() ?? "")
    default: return try mediaRemark("document") ?? ""
    }
  }

  fileprivate func remark(_ type: String) -> String {
    let about = members.filter { !["type", "id", "tool_use_id", "cache_control"].contains($0.key) }
    return "[\(type) \(JSONValue.object(about).text)]"
  }
}
