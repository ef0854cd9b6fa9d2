// ResponsesFormat: answers of /v1/responses as one object.
import Foundation
import PagodaKit

struct ResponsesFormat: AnswerFormat {
  /// The status of an output item.
  enum ItemStatus: String {
    case inProgress = "in_progress"
    case completed
    case incomplete  // the answer was cut inside it
  }

  let request: ResponsesRequest
  let tokens: TokenTexts
  var store: ResponseStore?
  var conversations: ConversationStore?
  var owner = ""
  let id = randomID("resp_")
  let created = Int64(Date().timeIntervalSince1970)

  var errorShape: APIError.Shape { .openAI }
  var unknownFields: [String] { request.unknownFields }

  func encoder(promptTokens: Int) -> ResponsesEncoder { ResponsesEncoder(format: self) }

  func began(cancel: @escaping @Sendable () -> Void) { store?.begin(id, owner: owner, cancel: cancel) }

  func ended() { store?.end(id) }

  /// Stores a response that ended normally, if requested.
  func keep(_ response: JSONValue) {
    ended()
    let isCancelled = response["status"]?.stringValue == "cancelled"
    if request.isStored, !isCancelled || request.isBackground {
      store?.add(response, input: request.items, owner: owner)
    }
    guard let id = request.conversation, !isCancelled else { return }
    // A conversation that was deleted meanwhile, or is full, is not extended; its next use reports that.
    _ = try? conversations?.add(request.given + (response["output"]?.arrayValue ?? []), to: id, owner: owner)
  }

  func response(_ answers: [Answer]) -> JSONValue {
    let answer = answers[0]
    var output: [JSONValue] = []
    let isCut = answer.completion?.finishReason == .length
    let hasCalls = !answer.calls.isEmpty || answer.cutCall != nil
    let last = isCut && !hasCalls ? ItemStatus.incomplete : .completed
    if !answer.reasoning.isEmpty {
      let isLast = isCut && answer.text.isEmpty && !hasCalls
      output.append(reasoning(randomID("rs_"), answer.reasoning, isLast ? .incomplete : .completed))
    }
    if !answer.text.isEmpty || (!hasCalls && answer.reasoning.isEmpty) {
      output.append(Self.message(randomID("msg_"), answer.text, logprobs(answer.textTokens), last))
    }
    output += answer.calls.map { call($0, .completed) }
    if let cut = answer.cutCall { output.append(call(cut, .incomplete)) }
    let whole = object(output, completion: answer.completion, reasoningTokens: answer.reasoningTokens)
    keep(whole)
    return whole
  }

  /// The response; without a completion while it is being generated.
  func object(
    _ output: [JSONValue], completion: Completion?, reasoningTokens: Int = 0, error: APIError? = nil,
    status other: String? = nil
  ) -> JSONValue {
    let isCut = completion?.finishReason == .length
    let isCancelled = completion?.finishReason == .cancelled
    let ending = isCancelled ? "cancelled" : isCut ? "incomplete" : "completed"
    let status = other ?? (error != nil ? "failed" : completion == nil ? "in_progress" : ending)
    let members: [JSONValue.Member] = [
      .init(key: "id", value: .string(id)), .init(key: "object", value: .string("response")),
      .init(key: "created_at", value: .integer(created)), .init(key: "status", value: .string(status)),
      .init(key: "background", value: .bool(request.isBackground)),
      .init(
        key: "error",
        value: error.map { .object(["code": .string($0.code ?? $0.type), "message": .string($0.message)]) } ?? .null),
      .init(
        key: "incomplete_details",
        value: isCut ? .object(["reason": .string("max_output_tokens")]) : .null),
      .init(key: "model", value: .string(request.model)), .init(key: "output", value: .array(output)),
      .init(key: "usage", value: completion.map { Self.usage($0.usage, reasoningTokens) } ?? .null),
    ]
    return .object(members + request.echoed)
  }

  static func usage(_ usage: Usage, _ reasoningTokens: Int) -> JSONValue {
    .object([
      "input_tokens": .integer(Int64(usage.promptTokens)),
      "input_tokens_details": .promptDetails(
        cached: usage.cachedTokens, images: usage.imageTokens),
      "output_tokens": .integer(Int64(usage.completionTokens)),
      "output_tokens_details": .object(["reasoning_tokens": .integer(Int64(reasoningTokens))]),
      "total_tokens": .integer(Int64(usage.promptTokens + usage.completionTokens)),
    ])
  }

  /// The log probabilities of a part of the text, if requested.
  func logprobs(_ list: [TokenInfo]) -> JSONValue {
    request.wantsLogprobs ? tokens.chatLogprobs(list)["content"] ?? .array([]) : .array([])
  }

  func reasoning(_ id: String, _ text: String, _ status: ItemStatus) -> JSONValue {
    let content = JSONValue.object(["type": .string("reasoning_text"), "text": .string(text)])
    var members: [JSONValue.Member] = [
      .init(key: "id", value: .string(id)), .init(key: "type", value: .string("reasoning")),
      .init(key: "summary", value: .array([])),
      .init(key: "content", value: .array(status == .inProgress ? [] : [content])),
      .init(key: "status", value: .string(status.rawValue)),
    ]
    if status != .inProgress, let seal = request.seal {
      members.append(.init(key: "encrypted_content", value: .string(seal.seal(text))))
    }
    return .object(members)
  }

  static func part(_ text: String, _ logprobs: JSONValue = .array([])) -> JSONValue {
    .object(["type": .string("output_text"), "text": .string(text), "annotations": .array([]), "logprobs": logprobs])
  }

  static func message(
    _ id: String, _ text: String, _ logprobs: JSONValue = .array([]), _ status: ItemStatus
  ) -> JSONValue {
    .object([
      "id": .string(id), "type": .string("message"), "role": .string("assistant"),
      "content": .array(status == .inProgress ? [] : [part(text, logprobs)]), "status": .string(status.rawValue),
    ])
  }

  /// A call in the shape of its tool.
  func call(_ call: ToolCall, _ status: ItemStatus) -> JSONValue {
    let kind = request.generation.toolList.kinds[call.name]
    let prefix = kind == nil ? "fc_" : kind == .custom ? "ctc_" : "call_item_"
    let type = kind.map { $0 == .custom ? "custom_tool_call" : "\($0.rawValue)_call" } ?? "function_call"
    var members: [JSONValue.Member] = [
      .init(key: "id", value: .string(prefix + call.id.drop { $0 != "_" }.dropFirst())),
      .init(key: "type", value: .string(type)), .init(key: "call_id", value: .string(call.id)),
    ]
    let named = JSONValue.Member(key: "name", value: .string(call.name))
    let input = JSONValue.parse(call.arguments)?.objectValue ?? []
    switch kind {
    case nil: members += [named, .init(key: "arguments", value: .string(call.arguments))]
    case .custom: members += [named, .init(key: "input", value: .string(call.customInput))]
    case .localShell:
      let exec: [JSONValue.Member] = [.init(key: "type", value: .string("exec"))]
      let none: [JSONValue.Member] = [.init(key: "env", value: .object([]))]
      let command = input.isEmpty ? [.init(key: "command", value: .array([]))] : input
      members.append(.init(key: "action", value: .object(exec + command + none)))
    case .shell:
      let missing = ["timeout_ms", "max_output_length"].filter { key in !input.contains { $0.key == key } }
      let commands = input.isEmpty ? [.init(key: "commands", value: .array([]))] : input
      members.append(
        .init(key: "action", value: .object(commands + missing.map { .init(key: $0, value: .null) })))
    case .applyPatch: members.append(.init(key: "operation", value: .object(input)))
    }
    return .object(members + [.init(key: "status", value: .string(status.rawValue))])
  }
}
