// ResponsesFormat: answers of /v1/responses as one object.
import Foundation
import PagodaKit

struct ResponsesFormat: AnswerFormat {
  let request: ResponsesRequest
  let id = randomID("resp_")
  let created = Int64(Date().timeIntervalSince1970)

  var errorShape: APIError.Shape { .openAI }
  var unknownFields: [String] { request.unknownFields }

  func encoder(_ prompts: [EncodedPrompt]) -> ResponsesEncoder {
    ResponsesEncoder(format: self, opening: prompts[0].opening)
  }

  func response(_ answers: [Answer], prompts: [EncodedPrompt]) -> JSONValue {
    let answer = answers[0]
    var output: [JSONValue] = []
    if !answer.reasoning.isEmpty { output.append(Self.reasoning(randomID("rs_"), answer.reasoning, isDone: true)) }
    if !answer.text.isEmpty || answer.calls.isEmpty {
      output.append(Self.message(randomID("msg_"), answer.text, isDone: true))
    }
    output += answer.calls.map { Self.call($0, isDone: true) }
    return object(output, completion: answer.completion)
  }

  /// The response; nil completion while it is being made.
  func object(_ output: [JSONValue], completion: Completion?, error: APIError? = nil) -> JSONValue {
    let isCut = completion?.finishReason == .length
    let status = error != nil ? "failed" : completion == nil ? "in_progress" : isCut ? "incomplete" : "completed"
    let members: [JSONValue.Member] = [
      .init(key: "id", value: .string(id)), .init(key: "object", value: .string("response")),
      .init(key: "created_at", value: .integer(created)), .init(key: "status", value: .string(status)),
      .init(key: "background", value: .bool(false)),
      .init(
        key: "error",
        value: error.map { .object(["code": .string($0.code ?? $0.type), "message": .string($0.message)]) } ?? .null),
      .init(
        key: "incomplete_details",
        value: isCut ? .object(["reason": .string("max_output_tokens")]) : .null),
      .init(key: "model", value: .string(request.model)), .init(key: "output", value: .array(output)),
      .init(key: "usage", value: completion.map { Self.usage($0.usage) } ?? .null),
    ]
    return .object(members + request.echoed)
  }

  private static func usage(_ usage: Usage) -> JSONValue {
    .object([
      "input_tokens": .integer(Int64(usage.promptTokens)),
      "input_tokens_details": .object(["cached_tokens": .integer(Int64(usage.cachedTokens))]),
      "output_tokens": .integer(Int64(usage.completionTokens)),
      "output_tokens_details": .object(["reasoning_tokens": .integer(0)]),
      "total_tokens": .integer(Int64(usage.promptTokens + usage.completionTokens)),
    ])
  }

  private static func status(_ isDone: Bool) -> JSONValue { .string(isDone ? "completed" : "in_progress") }

  static func reasoning(_ id: String, _ text: String, isDone: Bool) -> JSONValue {
    .object([
      "id": .string(id), "type": .string("reasoning"), "summary": .array([]),
      "content": .array(isDone ? [.object(["type": .string("reasoning_text"), "text": .string(text)])] : []),
      "status": status(isDone),
    ])
  }

  static func part(_ text: String) -> JSONValue {
    .object(["type": .string("output_text"), "text": .string(text), "annotations": .array([]), "logprobs": .array([])])
  }

  static func message(_ id: String, _ text: String, isDone: Bool) -> JSONValue {
    .object([
      "id": .string(id), "type": .string("message"), "role": .string("assistant"),
      "content": .array(isDone ? [part(text)] : []), "status": status(isDone),
    ])
  }

  static func call(_ call: ToolCall, isDone: Bool) -> JSONValue {
    .object([
      "id": .string("fc_" + call.id.drop { $0 != "_" }.dropFirst()), "type": .string("function_call"),
      "call_id": .string(call.id), "name": .string(call.name), "arguments": .string(call.arguments),
      "status": status(isDone),
    ])
  }
}
