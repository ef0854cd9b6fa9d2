// BatchBody: converts bodies of OpenAI batch files to engine requests, in the same way as the endpoints.
import PagodaKit

/// Readers shared by lines of batch files and bodies of requests.
package enum BatchBody {
  /// The body of a line whose `url` names `/v1/completions`, or else `/v1/chat/completions`. The name of the model has
  /// no effect.
  package static func request(_ body: [JSONValue.Member], url: String) throws(PagodaError) -> Request {
    let text = Array(JSONValue.object(body.filter { $0.key != "model" }).text.utf8)
    let models = ServedModels(names: ["batch"])
    return try checked {
      if url.hasSuffix("/v1/completions") {
        let read = try CompletionRequest(text, models: models, vocabularySize: Int(Int32.max))
        try refuse(["echo": read.echoes, "prompt_logprobs": read.promptLogprobs != nil])
        return try request(read.generation, unknown: read.unknownFields, hasLogprobs: read.logprobs != nil)
      }
      let read = try ChatRequest(text, models: models)
      try refuse(["prompt_logprobs": read.promptLogprobs != nil])
      let saysSo = body.contains { $0.key == "logprobs" && $0.value != .null }
      return try request(read.generation, unknown: read.unknownFields, hasLogprobs: saysSo)
    }
  }

  /// OpenAI's `messages`.
  package static func messages(_ value: JSONValue) throws(PagodaError) -> [Message] {
    try checked {
      let fields = FieldReader([.init(key: "messages", value: value)])
      guard let list = try fields.objects("messages", maximum: Conversation.maximumMessages), !list.isEmpty else {
        throw fields.missing("messages")
      }
      return try Conversation(openAI: list).all.map(message)
    }
  }

  /// OpenAI's `response_format`; nil for plain text.
  package static func grammar(_ value: JSONValue) throws(PagodaError) -> Request.Grammar? {
    try checked { try FieldReader([.init(key: "response_format", value: value)]).grammar("response_format") }
  }

  private static func checked<Value>(_ work: () throws -> Value) throws(PagodaError) -> Value {
    do { return try work() } catch { throw .invalidArgument(APIError(any: error).message) }
  }

  /// Log probabilities are part of a line's answer by default.
  private static func request(_ generation: Generation, unknown: [String], hasLogprobs: Bool) throws -> Request {
    if let field = unknown.first { throw APIError.invalid("unknown field '\(field)'") }
    if generation.isStream { throw APIError.invalid("stream is true; a batch returns only complete answers") }
    if generation.sequenceCount != 1 {
      throw APIError.invalid("the body asks for \(generation.sequenceCount) answers; a line of a batch has one")
    }
    try refuse(["tools": !generation.tools.isEmpty, "continue_final_message": generation.continued != nil])
    var request = generation.request
    switch generation.prompts[0] {
    case .text(let text): request.prompt = .text(text)
    case .tokens(let ids): request.prompt = .tokens(ids)
    case .middle: try refuse(["suffix": true])
    case .chat(let prompt):
      request.prompt = .messages(try prompt.messages.map(message))
      for variable in prompt.variables {
        guard variable.key == "enable_thinking", let isOn = variable.value.boolValue else {
          throw APIError.invalid("chat_template_kwargs.\(variable.key) is not supported in a batch")
        }
        request.thinking = isOn
      }
    }
    if !hasLogprobs { request.sampling.topLogProbabilities = 0 }
    return request
  }

  private static func refuse(_ fields: KeyValuePairs<String, Bool>) throws {
    for (name, isGiven) in fields where isGiven {
      throw APIError.invalid("\(name) is not supported in a batch", param: name)
    }
  }

  /// A message in the shape of `Conversation`.
  private static func message(_ value: JSONValue) throws -> Message {
    guard let role = Message.Role(rawValue: value["role"]?.stringValue ?? "") else {
      throw APIError.invalid("messages has a role that is not supported in a batch", param: "messages")
    }
    let calls = (value["tool_calls"]?.arrayValue ?? []).map { call in
      ToolCall(
        id: call["id"]?.stringValue ?? "", name: call["function"]?["name"]?.stringValue ?? "",
        arguments: call["function"]?["arguments"]?.text ?? "{}")
    }
    return Message(
      role: role, content: value["content"]?.stringValue ?? "", reasoning: value["reasoning_content"]?.stringValue,
      toolCalls: calls, toolCallID: value["tool_call_id"]?.stringValue)
  }
}
