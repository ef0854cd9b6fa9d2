// Conversation: messages of any of the APIs, checked and converted to the order and format that chat templates read.
import PagodaKit

struct Conversation {
  private(set) var messages: [JSONValue] = []
  private(set) var images: [ImageInput] = []
  private var system: [String] = []
  private var openCalls: Set<String> = []  // ids of tool calls seen

  static let maximumMessages = 10_000

  /// System messages are joined and moved to the front, because Qwen's templates refuse them elsewhere.
  mutating func addSystem(_ text: String) { if !text.isEmpty { system.append(text) } }

  mutating func addUser(_ text: String) { addUser([.text(text)]) }

  mutating func addUser(_ parts: [Message.Part]) {
    messages.append(.object([member("role", "user"), content(parts)]))
  }

  mutating func addAssistant(_ text: String, reasoning: String?, calls: [ToolCall]) {
    var members = [member("role", "assistant"), member("content", text)]
    if let reasoning, !reasoning.isEmpty { members.append(member("reasoning_content", reasoning)) }
    if !calls.isEmpty {
      members.append(.init(key: "tool_calls", value: .array(calls.map(Self.call))))
      openCalls.formUnion(calls.map(\.id))
    }
    messages.append(.object(members))
  }

  /// The result of a tool. The call must be part of the conversation.
  mutating func addToolResult(_ parts: [Message.Part], id: String, field: String) throws {
    guard openCalls.contains(id) else {
      throw APIError.invalid("\(field) '\(id.prefix(60))' answers no tool call before it", param: field)
    }
    messages.append(.object([member("role", "tool"), content(parts), member("tool_call_id", id)]))
  }

  /// The id of the last call of a function, which its result need not name in OpenAI's legacy format.
  private func lastCall(of name: String) -> String? {
    for message in messages.reversed() {
      for call in message["tool_calls"]?.arrayValue ?? [] where call["function"]?["name"]?.stringValue == name {
        return call["id"]?.stringValue
      }
    }
    return nil
  }

  /// Removes the last message, which the answer continues.
  mutating func takeContinued() throws -> Continued {
    guard let last = messages.last, last["role"]?.stringValue == "assistant" else {
      throw APIError.invalid("the last message is not the assistant's, so it cannot be continued", param: "messages")
    }
    if last["tool_calls"] != nil {
      throw APIError.invalid("a message with tool calls cannot be continued", param: "messages")
    }
    if messages.count == 1 {
      throw APIError.invalid("there must be a message before the continued one", param: "messages")
    }
    messages.removeLast()
    return Continued(
      text: last["content"]?.stringValue ?? "", reasoning: last["reasoning_content"]?.stringValue ?? "")
  }

  var all: [JSONValue] {
    let joined = system.joined(separator: "\n\n")
    let first = joined.isEmpty ? [] : [JSONValue.object([member("role", "system"), member("content", joined)])]
    return first + messages
  }

  /// Text alone is a string, which every template reads.
  private mutating func content(_ parts: [Message.Part]) -> JSONValue.Member {
    let message = Message(role: .user, parts: parts)
    if message.images.isEmpty { return member("content", message.content) }
    return .init(key: "content", value: .array(parts.map { $0.json(adding: &images) }))
  }

  /// The prompt of this conversation.
  func prompt(tools: [JSONValue], variables: [JSONValue.Member]) -> ChatPrompt {
    ChatPrompt(messages: all, tools: tools, variables: variables, images: images)
  }

  private func member(_ key: String, _ text: String) -> JSONValue.Member { .init(key: key, value: .string(text)) }

  /// Templates need the arguments as an object. Text that is not one, such as a model's mistake, is wrapped in an
  /// object.
  private static func call(_ call: ToolCall) -> JSONValue {
    let parsed = call.arguments.isEmpty ? JSONValue.object([]) : JSONValue.parse(call.arguments)
    let isObject = parsed?.objectValue != nil
    let arguments = isObject ? parsed ?? .null : .object(["arguments": .string(call.arguments)])
    return .object([
      "id": .string(call.id), "type": .string("function"),
      "function": .object(["name": .string(call.name), "arguments": arguments]),
    ])
  }
}

extension Conversation {
  /// OpenAI's `messages`.
  init(openAI list: [FieldReader]) throws {
    self.init()
    for message in list {
      guard let role = try message.string("role") else { throw message.missing("role") }
      // Wrong kinds are refused also where the role does not use the member.
      for key in ["name", "tool_call_id", "reasoning_content"] { _ = try message.string(key) }
      let calls = try message.toolCalls()
      switch role {
      case "system", "developer": addSystem(try message.content() ?? "")
      case "user":
        guard let parts = try message.parts() else { throw message.missing("content") }
        addUser(parts)
      case "assistant": try addAssistant(message, calls: calls)
      case "tool":
        guard let id = try message.string("tool_call_id") else { throw message.missing("tool_call_id") }
        try addToolResult(try message.parts() ?? [], id: id, field: message.path + "tool_call_id")
      case "function":
        guard let name = try message.string("name") else { throw message.missing("name") }
        guard let id = lastCall(of: name) else {
          throw APIError.invalid(
            "\(message.path)name '\(name.prefix(60))' answers no function call before it", param: message.path + "name")
        }
        try addToolResult(try message.parts() ?? [], id: id, field: message.path + "name")
      default:
        throw APIError.invalid(
          "\(message.path)role is '\(role.prefix(40))'; it must be system, developer, user, assistant or tool",
          param: message.path + "role")
      }
    }
  }

  private mutating func addAssistant(_ message: FieldReader, calls given: [ToolCall]?) throws {
    var calls = given
    if let call = try message.object("function_call") {
      guard let name = try call.string("name", maximumBytes: 256) else { throw call.missing("name") }
      calls = [ToolCall(id: "call_\(messages.count)", name: name, arguments: try call.string("arguments") ?? "")]
    }
    let text = try message.content()
    if text == nil && (calls ?? []).isEmpty && message["reasoning_content"] == nil { throw message.missing("content") }
    let reasoning = try message.string("reasoning_content") ?? message.string("reasoning")
    addAssistant(text ?? "", reasoning: reasoning, calls: calls ?? [])
  }
}

extension FieldReader {
  /// The calls of a message, in OpenAI's form.
  fileprivate func toolCalls() throws -> [ToolCall]? {
    try objects("tool_calls", maximum: 1000)?.map { call in
      guard let id = try call.string("id", maximumBytes: 256) else { throw call.missing("id") }
      _ = try call.choice("type", of: ["function", "custom"])
      let custom = try call.object("custom")
      guard let function = try custom ?? call.object("function") else { throw call.missing("function") }
      guard let name = try function.string("name", maximumBytes: 256) else { throw function.missing("name") }
      if let custom { return ToolCall(id: id, name: name, customInput: try custom.string("input") ?? "") }
      return ToolCall(id: id, name: name, arguments: try function.string("arguments") ?? "")
    }
  }
}
