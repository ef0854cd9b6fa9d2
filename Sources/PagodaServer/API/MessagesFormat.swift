// MessagesFormat: answers of Anthropic's /v1/messages, whole and as events.
import PagodaKit

struct MessagesFormat: AnswerFormat {
  let request: MessagesRequest
  let seal: ReasoningSeal
  let id = randomID("msg_")

  var errorShape: APIError.Shape { .anthropic }
  var unknownFields: [String] { request.unknownFields }

  func encoder(promptTokens: Int) -> MessagesEncoder {
    MessagesEncoder(format: self, promptTokens: promptTokens)
  }

  func response(_ answers: [Answer]) -> JSONValue {
    let answer = answers[0]
    var content: [JSONValue] = []
    if !answer.reasoning.isEmpty {
      content.append(
        .object([
          "type": .string("thinking"), "thinking": .string(answer.reasoning),
          "signature": .string(seal.sign(answer.reasoning)),
        ]))
    }
    if !answer.text.isEmpty || answer.calls.isEmpty {
      content.append(.object(["type": .string("text"), "text": .string(answer.text)]))
    }
    for call in answer.calls {
      content.append(
        .object([
          "type": .string("tool_use"), "id": .string(call.id), "name": .string(call.name),
          "input": JSONValue.parse(call.arguments) ?? .object([]),
        ]))
    }
    return message(content, stop: answer, usage: Self.usage(answer.completion?.usage))
  }

  func message(_ content: [JSONValue], stop answer: Answer?, usage: JSONValue) -> JSONValue {
    .object([
      "id": .string(id), "type": .string("message"), "role": .string("assistant"), "model": .string(request.model),
      "content": .array(content), "stop_reason": answer.map { .string($0.stopReason) } ?? .null,
      "stop_sequence": answer?.completion?.stopString.map { .string($0) } ?? .null, "usage": usage,
    ])
  }

  /// Anthropic counts cached tokens separately from the others.
  static func usage(_ usage: Usage?) -> JSONValue {
    let usage = usage ?? Usage(promptTokens: 0, completionTokens: 0, cachedTokens: 0)
    return .object([
      "input_tokens": .integer(Int64(usage.promptTokens - usage.cachedTokens)),
      "cache_creation_input_tokens": .integer(0), "cache_read_input_tokens": .integer(Int64(usage.cachedTokens)),
      "output_tokens": .integer(Int64(usage.completionTokens)),
    ])
  }
}

extension Answer {
  /// Anthropic's stop reason.
  var stopReason: String {
    if finishReason == "tool_calls" { return "tool_use" }
    if completion?.finishReason == .length { return "max_tokens" }
    return completion?.stopString == nil ? "end_turn" : "stop_sequence"
  }
}

struct MessagesEncoder: StreamEncoder {
  private enum Block {
    case thinking
    case text
    case tool(Int)
  }

  let format: MessagesFormat
  private let promptTokens: Int
  private var answer = Answer()
  private var block: Block?
  private var thinking = ""  // of the open block
  private var blockCount = 0

  init(format: MessagesFormat, promptTokens: Int) {
    self.format = format
    self.promptTokens = promptTokens
  }

  mutating func opening() -> String {
    let usage = Usage(promptTokens: promptTokens, completionTokens: 0, cachedTokens: 0)
    return event("message_start", ["message": format.message([], stop: nil, usage: MessagesFormat.usage(usage))])
      + event("ping", [:])
  }

  mutating func encode(_ item: StreamItem) -> (text: String, isLast: Bool) {
    switch item {
    case .keepAlive: return (event("ping", [:]), false)
    case .text(let text): return (text, false)
    case .cut(let reason): return (event("error", ["error": reason.anthropicBody]), true)
    case .event(_, .failure(let error)): return (event("error", ["error": APIError(error).anthropicBody]), true)
    case .event(_, .success(let segment)):
      let text = encode(segment)
      return (text, answer.completion != nil)
    }
  }

  private mutating func encode(_ segment: AnswerSegment) -> String {
    switch segment {
    case .text(let text):
      let begin = open(.text, ["type": .string("text"), "text": .string("")])
      return begin + delta(["type": .string("text_delta"), "text": .string(text)])
    case .reasoning(let text):
      let begin = open(
        .thinking, ["type": .string("thinking"), "thinking": .string(""), "signature": .string("")])
      thinking += text
      return begin + delta(["type": .string("thinking_delta"), "thinking": .string(text)])
    case .callBegin(let index, let id, let name):
      answer.calls.append(ToolCall(id: id, name: name, arguments: ""))
      return open(
        .tool(index),
        ["type": .string("tool_use"), "id": .string(id), "name": .string(name), "input": .object([])])
    case .callArguments(_, let text):
      return delta(["type": .string("input_json_delta"), "partial_json": .string(text)])
    case .callEnd: return close()
    case .rejected(let call):
      guard call.index != nil else { return "" }
      answer.cutCall = answer.calls.popLast()
      return close()
    case .token, .progress, .trimmed: return ""
    case .finished(let completion, _):
      answer.add(segment)
      var text = ""
      if blockCount == 0 { text += open(.text, ["type": .string("text"), "text": .string("")]) }
      text += close()
      let stop = JSONValue.object([
        "stop_reason": .string(answer.stopReason),
        "stop_sequence": completion.stopString.map { .string($0) } ?? .null,
      ])
      text += event("message_delta", ["delta": stop, "usage": MessagesFormat.usage(completion.usage)])
      return text + event("message_stop", [:])
    }
  }

  /// Opens a block unless one of its kind is open; each tool call has its own.
  private mutating func open(_ kind: Block, _ content: KeyValuePairs<String, JSONValue>) -> String {
    switch (block, kind) {
    case (.text, .text), (.thinking, .thinking): return ""
    default: break
    }
    let end = close()
    block = kind
    blockCount += 1
    return end
      + event(
        "content_block_start", ["index": .integer(Int64(blockCount - 1)), "content_block": .object(content)])
  }

  private mutating func close() -> String {
    guard let open = block else { return "" }
    var text = ""
    if case .thinking = open {
      text = delta(["type": .string("signature_delta"), "signature": .string(format.seal.sign(thinking))])
      thinking = ""
    }
    block = nil
    return text + event("content_block_stop", ["index": .integer(Int64(blockCount - 1))])
  }

  private func delta(_ delta: KeyValuePairs<String, JSONValue>) -> String {
    event("content_block_delta", ["index": .integer(Int64(blockCount - 1)), "delta": .object(delta)])
  }

  private func event(_ name: String, _ members: KeyValuePairs<String, JSONValue>) -> String {
    let type = JSONValue.Member(key: "type", value: .string(name))
    return sse(.object([type] + members.map { JSONValue.Member(key: $0.key, value: $0.value) }), event: name)
  }
}
