// ResponsesRequest: the body of /v1/responses, after the stored responses that it refers to.
import PagodaKit

struct ResponsesRequest: Sendable {
  var model: String
  var generation: Generation
  var echoed: [JSONValue.Member]  // fields that the response repeats
  var wantsLogprobs = false
  var unknownFields: [String]
  var items: [JSONValue]  // everything that the response answers, including items of earlier responses
  var given: [JSONValue]  // the items of the request itself
  var isStored: Bool
  var isBackground: Bool
  var conversation: String?  // the id of the conversation that it continues
  /// Encrypts the thinking for the client, if requested.
  var seal: ReasoningSeal?

  /// `isCompaction` requests a summary of the conversation instead of its next answer.
  init(
    _ body: [UInt8], models: ServedModels, store: ResponseStore, conversations: ConversationStore, owner: String,
    seal: ReasoningSeal, isCompaction: Bool = false
  ) throws {
    let fields = try FieldReader(body: body, table: .responses).withMedia(models)
    unknownFields = fields.unknown
    model = try models.name(in: fields)
    var conversation = Conversation()
    let instructions = try fields.string("instructions")
    conversation.addSystem(instructions ?? "")
    let given = try fields.inputItems()
    var readers = given
    items = given.map { .object($0.members) }
    self.given = items
    self.conversation = try fields.conversationID()
    if let id = self.conversation {
      guard let entry = conversations.find(id, owner: owner) else {
        throw ModelHost.notFound("Conversation", id, "conversation")
      }
      readers =
        entry.items.map { FieldReader($0.objectValue ?? [], path: "conversation: ", media: fields.media) } + given
      items = entry.items + items
    }
    if let previous = try fields.string("previous_response_id", maximumBytes: 256) {
      guard let entry = store.find(previous, owner: owner) else {
        throw APIError.invalid(
          "Previous response with id '\(previous.prefix(100))' not found.", param: "previous_response_id",
          code: "previous_response_not_found")
      }
      let history = entry.input + (entry.response["output"]?.arrayValue ?? [])
      readers =
        history.map { FieldReader($0.objectValue ?? [], path: "previous_response_id: ", media: fields.media) } + given
      items = history + items
    }
    isStored = try fields.flag("store") ?? true
    isBackground = try fields.flag("background") ?? false
    if isBackground && !isStored {
      throw APIError.invalid("background needs store: the answer is fetched later", param: "background")
    }
    if try isBackground && fields.flag("stream") ?? false {
      throw APIError.invalid(
        "background answers cannot be streamed; fetch the response until it has ended", param: "stream")
    }
    unknownFields += try conversation.add(responses: readers, seal: seal)
    if conversation.messages.isEmpty { throw APIError.invalid("input has no message", param: "input") }
    if isCompaction { conversation.addUser(CompactFormat.instruction) }

    let toolList = try fields.toolList()
    unknownFields += toolList.ignored + (fields.media?.ignored ?? [])
    let (tools, forced) = try fields.toolChoice(toolList.functions)
    var thinking = Thinking()
    if let reasoning = try fields.object("reasoning") {
      thinking.apply(effort: try reasoning.choice("effort", of: Thinking.efforts))
    }
    var sampling = try fields.sampling(FieldTable.sampling.subtracting(["max_tokens"]))
    sampling.maximumTokens = try fields.tokenLimit("max_output_tokens")
    sampling.thinkingBudget = sampling.thinkingBudget ?? thinking.budget
    let included = try fields.array("include") ?? []
    guard included.allSatisfy({ $0.stringValue != nil }) else {
      throw APIError.invalid("include must be a list of strings", param: "include")
    }
    if included.contains(.string("reasoning.encrypted_content")) { self.seal = seal }
    let count = try fields.integer("top_logprobs", in: 0...20)
    wantsLogprobs = count ?? 0 > 0 || included.contains(.string("message.output_text.logprobs"))
    if wantsLogprobs { sampling.topLogProbabilities = count ?? 0 }
    let variables = thinking.variables(beside: try fields.templateVariables(), forced: forced)
    generation = Generation(
      prompts: [.chat(conversation.prompt(tools: tools, variables: variables))], sampling: sampling)
    generation.isStream = try !isCompaction && fields.flag("stream") ?? false
    generation.limitField = "max_output_tokens"
    generation.promptField = "input"
    generation.tools = tools
    generation.forcedCall = forced
    generation.toolList = toolList
    generation.allowsParallelCalls = try fields.allowsParallelCalls()
    generation.request.grammar = try fields.object("text")?.grammar("format")
    generation.grammarField = "text.format"
    try generation.readCommon(fields, models)
    if try fields.choice("truncation", of: ["auto", "disabled"]) == "auto" { generation.contextPolicy = .trim }
    echoed = fields.echoed(instructions: instructions)
  }
}

extension FieldReader {
  /// The items of `input`, each with an id; text is a message of the user.
  fileprivate func inputItems() throws -> [FieldReader] {
    guard let input = self["input"] else { throw missing("input") }
    if let text = input.stringValue {
      let part = JSONValue.object(["type": .string("input_text"), "text": .string(text)])
      return [
        FieldReader(
          [
            .init(key: "id", value: .string(randomID("msg_"))), .init(key: "type", value: .string("message")),
            .init(key: "role", value: .string("user")), .init(key: "content", value: .array([part])),
          ], path: "input.")
      ]
    }
    guard let items = try objects("input", maximum: Conversation.maximumMessages), !items.isEmpty else {
      throw APIError.invalid("input is empty", param: "input")
    }
    return Self.withIDs(items)
  }

  /// Items with a type and an id, which are added where they are missing.
  static func withIDs(_ items: [FieldReader]) -> [FieldReader] {
    items.map { item in
      var members = item.members.filter { $0.key != "type" && $0.key != "id" }
      members.insert(.init(key: "type", value: item["type"] ?? .string("message")), at: 0)
      members.insert(.init(key: "id", value: item["id"] ?? .string(randomID("item_"))), at: 0)
      return FieldReader(members, path: item.path, media: item.media)
    }
  }

  /// `conversation`: an id, or an object with one.
  fileprivate func conversationID() throws -> String? {
    guard let value = self["conversation"] else { return nil }
    if self["previous_response_id"] != nil {
      throw APIError.invalid("conversation and previous_response_id exclude each other", param: "conversation")
    }
    guard let id = value.stringValue ?? value["id"]?.stringValue, id.utf8.count <= 256 else {
      throw APIError.invalid("conversation must be the id of a conversation", param: "conversation")
    }
    return id
  }

  fileprivate func echoed(instructions: String?) -> [JSONValue.Member] {
    [
      .init(
        key: "conversation", value: (try? conversationID()).flatMap { $0 }.map { .object(["id": .string($0)]) } ?? .null
      ),
      .init(key: "instructions", value: instructions.map { .string($0) } ?? .null),
      .init(key: "max_output_tokens", value: self["max_output_tokens"] ?? .null),
      .init(key: "metadata", value: self["metadata"] ?? .object([])),
      .init(key: "parallel_tool_calls", value: self["parallel_tool_calls"] ?? .bool(true)),
      .init(key: "previous_response_id", value: self["previous_response_id"] ?? .null),
      .init(key: "reasoning", value: self["reasoning"] ?? .object(["effort": .null, "summary": .null])),
      .init(key: "store", value: self["store"] ?? .bool(true)),
      .init(key: "temperature", value: self["temperature"] ?? .null),
      .init(key: "text", value: self["text"] ?? .object(["format": .object(["type": .string("text")])])),
      .init(key: "tool_choice", value: self["tool_choice"] ?? .string("auto")),
      .init(key: "tools", value: self["tools"] ?? .array([])),
      .init(key: "top_p", value: self["top_p"] ?? .null),
      .init(key: "truncation", value: self["truncation"] ?? .string("disabled")),
    ]
  }
}

extension Conversation {
  /// Items of a conversation. The items of one answer (reasoning, text, calls) are one message of the template. Returns
  /// fields that were ignored.
  fileprivate mutating func add(responses items: [FieldReader], seal: ReasoningSeal) throws -> [String] {
    var ignored: [String] = []
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
        guard let parts = try item.parts(readsImages: role == "user") else { throw item.missing("content") }
        let content = Message(role: .user, parts: parts).content
        if role == "assistant" {
          if text != nil || !calls.isEmpty { flush(&self) }
          text = content
          continue
        }
        flush(&self)
        if role == "user" { addUser(parts) } else { addSystem(content) }
      case "reasoning":
        if text != nil || !calls.isEmpty { flush(&self) }
        let plain = try item.content(types: ["reasoning_text", "text"]) ?? ""
        reasoning += plain
        guard let sealed = try item.string("encrypted_content") else { continue }
        switch seal.open(sealed) {
        case .text(let text): if plain.isEmpty { reasoning += text }
        case .foreign: if plain.isEmpty { ignored.append("input.encrypted_content") }
        case .broken:
          throw APIError.invalid(
            "\(item.path)encrypted_content has been changed", param: item.path + "encrypted_content",
            code: "invalid_encrypted_content")
        }
      case "function_call", "custom_tool_call":
        guard let id = try item.string("call_id", maximumBytes: 256) else { throw item.missing("call_id") }
        guard let name = try item.string("name", maximumBytes: 256) else { throw item.missing("name") }
        let input = try item.string("input")
        calls.append(
          try input.map { ToolCall(id: id, name: name, customInput: $0) }
            ?? ToolCall(id: id, name: name, arguments: try item.string("arguments") ?? ""))
      case "item_reference":
        throw APIError.invalid(
          "\(item.path)type is item_reference; send the item, or previous_response_id", param: item.path + "type")
      case _ where type.hasSuffix("_output"):
        flush(&self)
        guard let id = try item.string("call_id") ?? item.string("id") else { throw item.missing("call_id") }
        try addToolResult(try item.output(), id: id, field: item.path + "call_id")
      case _ where type.hasSuffix("_call"):
        // Calls of the client's own tools or of OpenAI's: those with an id have a result, the others become a remark.
        let about = item.members.filter { !["id", "type", "call_id", "status"].contains($0.key) }
        let arguments = (item.typedCallInput() ?? .object(about)).text
        if let id = try item.string("call_id", maximumBytes: 256) {
          calls.append(ToolCall(id: id, name: String(type.dropLast(5)), arguments: arguments))
        } else {
          text = (text.map { $0 + "\n" } ?? "") + "[\(type) \(arguments)]"
        }
      case "compaction", "compaction_summary", "ghost_snapshot", "mcp_list_tools", "additional_tools": break
      default:
        throw APIError.invalid(
          "\(item.path)type is '\(type.prefix(40))', which this server does not know", param: item.path + "type")
      }
    }
    flush(&self)
    return ignored.isEmpty ? [] : [ignored[0]]
  }
}

extension FieldReader {
  /// The arguments of a call of a tool that OpenAI defines, as the model wrote them; nil for other calls.
  fileprivate func typedCallInput() -> JSONValue? {
    guard let type = self["type"]?.stringValue, let kind = ToolKind(rawValue: String(type.dropLast(5))) else {
      return nil
    }
    let input = self[kind == .applyPatch ? "operation" : "action"]?.objectValue
    return input.map { .object(kind == .localShell ? $0.filter { $0.key != "type" && $0.value != .null } : $0) }
  }

  /// The result of a call: text, parts of it, a picture of the screen, or anything else as JSON.
  fileprivate func output() throws -> [Message.Part] {
    guard let output = self["output"] else { return [] }
    if let members = output.objectValue {
      let part = FieldReader(members, path: path + "output.", media: media)
      if let image = try part.image(try part.string("type") ?? "") { return [.image(image)] }
      return [.text(output["content"]?.stringValue ?? output.text)]
    }
    return try parts("output") ?? []
  }
}
