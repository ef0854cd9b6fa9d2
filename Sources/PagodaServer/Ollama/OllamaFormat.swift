// OllamaFormat: answers of Ollama's /api/chat and /api/generate, whole and as lines of JSON.
import Foundation
import PagodaKit

struct OllamaFormat: AnswerFormat {
  let request: OllamaRequest
  let tokens: TokenTexts

  var errorShape: APIError.Shape { .ollama }
  var unknownFields: [String] { request.unknownFields }
  var streamType: String { "application/x-ndjson" }

  func encoder(promptTokens: Int) -> OllamaEncoder { OllamaEncoder(format: self) }

  func response(_ answers: [Answer]) -> JSONValue {
    let answer = answers[0]
    return object(
      OllamaPart(text: answer.text, thinking: answer.reasoning, calls: answer.calls, tokens: answer.tokens),
      completion: answer.completion)
  }

  /// The answer to a request without messages or prompt: the model is loaded.
  var loaded: JSONValue {
    var members = head(OllamaPart())
    members += [.init(key: "done", value: .bool(true)), .init(key: "done_reason", value: .string("load"))]
    return .object(members)
  }

  /// One line of a stream, or the whole answer; includes the final statistics if there is a completion.
  func object(_ part: OllamaPart, completion: Completion? = nil) -> JSONValue {
    var members = head(part)
    if request.wantsLogprobs, !part.tokens.isEmpty {
      members.append(.init(key: "logprobs", value: tokens.chatLogprobs(part.tokens)["content"] ?? .array([])))
    }
    members.append(.init(key: "done", value: .bool(completion != nil)))
    guard let completion else { return .object(members) }
    let (usage, times) = (completion.usage, completion.timings)
    func nanoseconds(_ milliseconds: Double) -> JSONValue { .integer(Int64(milliseconds * 1_000_000)) }
    let total = times.queueMilliseconds + times.promptMilliseconds + times.generationMilliseconds
    members += [
      .init(key: "done_reason", value: .string(completion.finishReason == .length ? "length" : "stop")),
      .init(key: "total_duration", value: nanoseconds(total)), .init(key: "load_duration", value: .integer(0)),
      .init(key: "prompt_eval_count", value: .integer(Int64(usage.promptTokens))),
      .init(key: "prompt_eval_duration", value: nanoseconds(times.promptMilliseconds)),
      .init(key: "eval_count", value: .integer(Int64(usage.completionTokens))),
      .init(key: "eval_duration", value: nanoseconds(times.generationMilliseconds)),
    ]
    return .object(members)
  }

  private func head(_ part: OllamaPart) -> [JSONValue.Member] {
    let time = Date().ISO8601Format()
    var members: [JSONValue.Member] = [
      .init(key: "model", value: .string(request.model)), .init(key: "created_at", value: .string(time)),
    ]
    switch request.kind {
    case .chat: members.append(.init(key: "message", value: .object(message(part))))
    case .generate:
      members.append(.init(key: "response", value: .string(part.text)))
      if !part.thinking.isEmpty { members.append(.init(key: "thinking", value: .string(part.thinking))) }
    }
    return members
  }

  private func message(_ part: OllamaPart) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = [
      .init(key: "role", value: .string("assistant")), .init(key: "content", value: .string(part.text)),
    ]
    if !part.thinking.isEmpty { members.append(.init(key: "thinking", value: .string(part.thinking))) }
    if !part.calls.isEmpty {
      let calls = part.calls.map { call in
        JSONValue.object([
          "id": .string(call.id),
          "function": .object([
            "name": .string(call.name), "arguments": JSONValue.parse(call.arguments) ?? .object([]),
          ]),
        ])
      }
      members.append(.init(key: "tool_calls", value: .array(calls)))
    }
    return members
  }
}

/// A part of an answer: all of it, or what one line adds.
struct OllamaPart {
  var text = ""
  var thinking = ""
  var calls: [ToolCall] = []
  var tokens: [TokenInfo] = []
}

struct OllamaEncoder: StreamEncoder {
  let format: OllamaFormat
  private var call: ToolCall?  // a call whose arguments are still arriving: Ollama sends calls whole
  private var waiting: [TokenInfo] = []  // tokens whose text has not been sent yet

  init(format: OllamaFormat) { self.format = format }

  mutating func opening() -> String { "" }

  mutating func encode(_ item: StreamItem) -> (text: String, isLast: Bool) {
    switch item {
    case .keepAlive: return (" ", false)  // a space before the next object; an empty line would not be JSON
    case .text(let text): return (text, false)
    case .cut(let reason): return (failure(reason), true)
    case .event(_, .failure(let error)): return (failure(APIError(error)), true)
    case .event(_, .success(let segment)):
      if case .finished = segment { return (encode(segment), true) }
      return (encode(segment), false)
    }
  }

  private mutating func encode(_ segment: AnswerSegment) -> String {
    switch segment {
    case .text(let text): return line(OllamaPart(text: text))
    case .reasoning(let text): return line(OllamaPart(thinking: text))
    case .progress, .trimmed: break
    case .callBegin(_, let id, let name): call = ToolCall(id: id, name: name, arguments: "")
    case .callArguments(_, let text): call?.arguments += text
    case .callEnd:
      guard let call else { return "" }
      self.call = nil
      return line(OllamaPart(calls: [call]))
    case .rejected(let rejected): if rejected.index != nil { call = nil }
    case .token(let token, _): if format.request.wantsLogprobs { waiting.append(token) }
    case .finished(let completion, _): return line(OllamaPart(), completion: completion)
    }
    return ""
  }

  private mutating func line(_ part: OllamaPart, completion: Completion? = nil) -> String {
    var part = part
    part.tokens = waiting
    waiting = []
    return format.object(part, completion: completion).text + "\n"
  }

  private func failure(_ error: APIError) -> String { error.ollamaBody.text + "\n" }
}
