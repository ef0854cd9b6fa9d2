// OllamaRequest: the bodies of Ollama's /api/chat and /api/generate.
import PagodaKit

struct OllamaRequest: Sendable {
  enum Kind: Sendable {
    case chat
    case generate
  }

  var kind: Kind
  var model: String  // as the request spells it
  /// Nil for a request without messages or prompt: Ollama's way to load a model ahead of time.
  var generation: Generation?
  var wantsLogprobs = false
  var unknownFields: [String]

  init(_ body: [UInt8], kind: Kind, models: ServedModels) throws {
    let fields = try FieldReader(body: body, table: kind == .chat ? .ollamaChat : .ollamaGenerate)
      .withMedia(models)
    self.kind = kind
    unknownFields = fields.unknown
    model = try models.ollamaName(in: fields)
    var thinking = try fields.ollamaThinking()
    var tools: [JSONValue] = []
    let prompt: Generation.Prompt?
    switch kind {
    case .chat:
      tools = try fields.toolList(isChat: true).functions
      prompt = try fields.ollamaConversation().map {
        .chat($0.prompt(tools: tools, variables: thinking.variables(beside: [])))
      }
    case .generate:
      if try fields.flag("raw") ?? false { thinking = Thinking() }
      prompt = try fields.ollamaPrompt(thinking)
    }
    let options = try fields.object("options") ?? FieldReader([])
    var sampling = try options.ollamaSampling(&unknownFields)
    sampling.thinkingBudget = thinking.budget
    wantsLogprobs = try fields.flag("logprobs") ?? false
    let count = try fields.integer("top_logprobs", in: 0...20) ?? 0
    if wantsLogprobs { sampling.topLogProbabilities = count }
    let isStream = try fields.flag("stream") ?? true
    let grammar = try fields.ollamaFormat()
    guard let prompt else { return }
    var generation = Generation(prompts: [prompt], sampling: sampling)
    generation.isStream = isStream
    generation.limitField = "num_predict"
    generation.promptField = kind == .chat ? "messages" : "prompt"
    generation.tools = tools
    generation.request.grammar = grammar
    generation.grammarField = "format"
    self.generation = generation
  }
}

extension ServedModels {
  /// A name as Ollama lists it: with a tag.
  static func ollamaName(_ name: String) -> String {
    let last = name.split(separator: "/").last ?? ""
    return last.contains(":") ? name : name + ":latest"
  }

  func contains(ollama name: String) -> Bool {
    contains(name) || listed.contains { Self.ollamaName($0) == name }
  }

  /// The name in a request, checked.
  func ollamaName(in fields: FieldReader) throws -> String {
    guard let name = try fields.string("model", maximumBytes: 512) ?? fields.string("name", maximumBytes: 512) else {
      throw fields.missing("model")
    }
    guard contains(ollama: name) else {
      throw APIError.invalid(
        "model '\(name.prefix(100))' not found; this server has \(listed.joined(separator: ", "))",
        param: "model", code: "model_not_found", status: 404)
    }
    return name
  }
}

extension FieldReader {
  /// `think`: true, false, or how much.
  fileprivate func ollamaThinking() throws -> Thinking {
    var thinking = Thinking()
    guard let value = self["think"] else { return thinking }
    if let isOn = value.boolValue {
      thinking.isOn = isOn
    } else {
      thinking.apply(effort: try choice("think", of: Thinking.efforts))
    }
    return thinking
  }

  /// The prompt of /api/generate; nil when it is empty.
  fileprivate func ollamaPrompt(_ thinking: Thinking) throws -> Generation.Prompt? {
    let text = try string("prompt") ?? ""
    let system = try string("system") ?? ""
    let images = try ollamaImages()
    if text.isEmpty && images.isEmpty { return nil }
    if try flag("raw") ?? false {
      if images.isEmpty { return .text(text) }
      throw APIError.invalid("images need the chat template; raw excludes them", param: "images")
    }
    var conversation = Conversation()
    conversation.addSystem(system)
    conversation.addUser(images + [.text(text)])
    return .chat(conversation.prompt(tools: [], variables: thinking.variables(beside: [])))
  }

  /// `format`: nothing, `json`, or a schema.
  fileprivate func ollamaFormat() throws -> Request.Grammar? {
    guard let value = self["format"] else { return nil }
    if let word = value.stringValue {
      if word.isEmpty { return nil }
      if word == "json" { return .jsonObject }
    }
    guard value.objectValue != nil else {
      throw APIError.invalid("format is \(value.shortText); it must be json or a JSON schema", param: "format")
    }
    return .jsonSchema(value.text)
  }

  /// `options`, under the names that sampling has elsewhere. Options for memory and devices have no effect on an answer
  /// here; unsupported ones that would change it are added to `unknown`.
  fileprivate func ollamaSampling(_ unknown: inout [String]) throws -> SamplingParameters {
    let renamed = ["num_predict": "max_tokens", "repeat_penalty": "repetition_penalty"]
    let taken: Set<String> = [
      "temperature", "top_k", "top_p", "min_p", "seed", "stop", "presence_penalty", "frequency_penalty",
    ]
    let harmless: Set<String> = [
      "num_ctx", "num_batch", "num_gpu", "main_gpu", "num_thread", "num_keep", "numa", "low_vram", "f16_kv",
      "use_mmap", "use_mlock", "vocab_only", "logits_all", "embedding_only",
    ]
    var members: [JSONValue.Member] = []
    for member in self.members where member.value != .null {
      if let key = renamed[member.key] {
        // Below 0 Ollama means "as much as fits".
        if member.key == "num_predict", let count = member.value.doubleValue, count < 0 { continue }
        members.append(.init(key: key, value: member.value))
      } else if taken.contains(member.key) {
        let isUnset = member.key == "seed" && member.value.doubleValue.map { $0 < 0 } ?? false
        let isEmpty = member.key == "stop" && member.value == .array([])
        if !isUnset && !isEmpty { members.append(member) }
      } else if !harmless.contains(member.key) {
        unknown.append(member.key)
      }
    }
    do {
      return try FieldReader(members).sampling(taken.union(renamed.values))
    } catch let error as FieldError {
      let name = renamed.first { $0.value == error.field }?.key ?? error.field
      throw APIError.invalid("options." + error.message.replacing(error.field, with: name), param: "options." + name)
    }
  }
}

extension FieldReader {
  /// The messages of /api/chat; nil if there are none. Calls have no ids there: results answer them in order, or by
  /// the name of the tool.
  fileprivate func ollamaConversation() throws -> Conversation? {
    guard let list = try objects("messages", maximum: Conversation.maximumMessages), !list.isEmpty else { return nil }
    var conversation = Conversation()
    var open: [ToolCall] = []
    var callCount = 0
    for message in list {
      guard let role = try message.choice("role", of: ["system", "user", "assistant", "tool"]) else {
        throw message.missing("role")
      }
      let text = try message.string("content") ?? ""
      let images = try message.ollamaImages()
      if !images.isEmpty && role != "user" && role != "tool" {
        throw APIError.invalid(
          "\(message.path)images: only the user and tools may send images", param: message.path + "images")
      }
      switch role {
      case "system": conversation.addSystem(text)
      case "user": conversation.addUser(images + [.text(text)])
      case "tool":
        let name = try message.string("tool_name") ?? message.string("name")
        guard let index = open.firstIndex(where: { name == nil || $0.name == name }) ?? open.indices.first else {
          throw APIError.invalid("\(message.path)role is tool, but no tool was called before it", param: message.path)
        }
        try conversation.addToolResult(
          images + [.text(text)], id: open.remove(at: index).id, field: message.path + "tool_name")
      default:
        let calls = try message.ollamaCalls(first: callCount)
        callCount += calls.count
        open += calls
        conversation.addAssistant(text, reasoning: try message.string("thinking"), calls: calls)
      }
    }
    return conversation
  }

  private func ollamaCalls(first: Int) throws -> [ToolCall] {
    try (objects("tool_calls", maximum: 1000) ?? []).enumerated().map { index, call in
      guard let function = try call.object("function") else { throw call.missing("function") }
      guard let name = try function.string("name", maximumBytes: 256) else { throw function.missing("name") }
      let arguments = JSONValue.object(try function.object("arguments")?.members ?? [])
      return ToolCall(id: "call_\(first + index)", name: name, arguments: arguments.text)
    }
  }
}
