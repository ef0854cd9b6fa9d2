// ChatFormat: answers of /v1/chat/completions, whole and as chunks.
import Foundation
import PagodaKit

struct ChatFormat: AnswerFormat {
  let request: ChatRequest
  let tokens: TokenTexts
  let id = randomID("chatcmpl-")
  let created = Int64(Date().timeIntervalSince1970)

  var errorShape: APIError.Shape { .openAI }
  var unknownFields: [String] { request.unknownFields }

  func encoder(promptTokens: Int) -> ChatEncoder { ChatEncoder(format: self) }

  func response(_ answers: [Answer]) -> JSONValue {
    let choices = answers.enumerated().map { index, answer in
      JSONValue.object([
        "index": .integer(Int64(index)), "message": message(answer),
        "logprobs": request.wantsLogprobs ? tokens.chatLogprobs(answer.tokens) : .null,
        "finish_reason": .string(finishReason(answer)),
      ])
    }
    let whole = envelope("chat.completion", choices, usage: .usage(answers), timings: answers.timed)
    guard let count = request.promptLogprobs, let members = whole.objectValue else { return whole }
    return .object(members + [.init(key: "prompt_logprobs", value: tokens.promptLogprobs(answers[0], count: count))])
  }

  func finishReason(_ answer: Answer) -> String {
    let reason = answer.finishReason
    return reason == "tool_calls" && request.usesLegacyFunctions ? "function_call" : reason
  }

  private func message(_ answer: Answer) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init(key: "role", value: .string("assistant")),
      .init(key: "content", value: answer.text.isEmpty && !answer.calls.isEmpty ? .null : .string(answer.text)),
      .init(key: "refusal", value: .null),
    ]
    if !answer.reasoning.isEmpty {
      members.append(.init(key: "reasoning_content", value: .string(answer.reasoning)))
    }
    if let call = answer.calls.first, request.usesLegacyFunctions {
      members.append(
        .init(
          key: "function_call",
          value: .object(["name": .string(call.name), "arguments": .string(call.arguments)])))
    } else if !answer.calls.isEmpty {
      members.append(.init(key: "tool_calls", value: .array(answer.calls.map(toolCall))))
    }
    if !answer.rejected.isEmpty {
      members.append(.init(key: "rejected_tool_calls", value: .array(answer.rejected.map(Self.rejected))))
    }
    return .object(members)
  }

  func isCustom(_ call: ToolCall) -> Bool { request.generation.toolList.kinds[call.name] == .custom }

  func toolCall(_ call: ToolCall) -> JSONValue {
    let input =
      isCustom(call)
      ? JSONValue.object(["name": .string(call.name), "input": .string(call.customInput)])
      : .object(["name": .string(call.name), "arguments": .string(call.arguments)])
    let type = isCustom(call) ? "custom" : "function"
    return .object(["id": .string(call.id), "type": .string(type), type: input])
  }

  /// Output that looked like a call but is not valid: the model's text is not shown, only the reason.
  static func rejected(_ call: RejectedToolCall) -> JSONValue {
    .object(["name": call.name.map { .string($0) } ?? .null, "reason": .string(call.reason)])
  }

  func envelope(
    _ object: String, _ choices: [JSONValue], usage: JSONValue?, timings: Completion? = nil
  ) -> JSONValue {
    .answer(
      id: id, object: object, created: created, model: request.model, choices: choices, usage: usage, timings: timings)
  }
}

extension ChatFormat {
  /// A chunk without choices, in llama.cpp's form.
  fileprivate func envelope(_ progress: PromptProgress) -> JSONValue {
    let chunk = envelope("chat.completion.chunk", [], usage: request.includesUsage ? .null : nil)
    let report = JSONValue.object([
      "total": .integer(Int64(progress.totalTokens)), "cache": .integer(Int64(progress.cachedTokens)),
      "processed": .integer(Int64(progress.completedTokens)),
      "time_ms": .integer(Int64(progress.elapsedSeconds * 1000)),
    ])
    return .object((chunk.objectValue ?? []) + [.init(key: "prompt_progress", value: report)])
  }
}

struct ChatEncoder: StreamEncoder {
  let format: ChatFormat
  private var answers: [Answer]  // only what the last chunks need
  private var waiting: [[TokenInfo]]  // tokens whose text has not been sent yet
  private var open: Int

  init(format: ChatFormat) {
    self.format = format
    open = format.request.generation.sequenceCount
    answers = Array(repeating: Answer(), count: open)
    waiting = Array(repeating: [], count: open)
  }

  mutating func opening() -> String {
    answers.indices.map { chunk($0, ["role": .string("assistant"), "content": .string("")]) }.joined()
  }

  mutating func encode(_ item: StreamItem) -> (text: String, isLast: Bool) {
    switch item {
    case .keepAlive: return (": keep-alive\n\n", false)
    case .text(let text): return (text, false)
    case .cut(let reason): return (failure(reason), true)
    case .event(_, .failure(let error)): return (failure(APIError(error)), true)
    case .event(let index, .success(let segment)):
      var text = encode(segment, of: index)
      guard open == 0 else { return (text, false) }
      if format.request.includesUsage {
        text += sse(format.envelope("chat.completion.chunk", [], usage: .usage(answers)))
      }
      return (text + "data: [DONE]\n\n", true)
    }
  }

  private mutating func encode(_ segment: AnswerSegment, of index: Int) -> String {
    switch segment {
    case .text(let text): return chunk(index, ["content": .string(text)])
    case .reasoning(let text): return chunk(index, ["reasoning_content": .string(text)])
    case .callBegin(let call, let id, let name):
      let new = ToolCall(id: id, name: name, arguments: "")
      answers[index].calls.append(new)
      if format.request.usesLegacyFunctions {
        return chunk(index, ["function_call": .object(["name": .string(name), "arguments": .string("")])])
      }
      let place = JSONValue.Member(key: "index", value: .integer(Int64(call)))
      let members = format.toolCall(new).objectValue ?? []
      return chunk(index, ["tool_calls": .array([.object([place] + members)])])
    case .callArguments(let call, let text):
      if call < answers[index].calls.count, format.isCustom(answers[index].calls[call]) {
        answers[index].calls[call].arguments += text  // known when it is complete: the model writes it as JSON
        return ""
      }
      let function = JSONValue.object(["arguments": .string(text)])
      if format.request.usesLegacyFunctions { return chunk(index, ["function_call": function]) }
      return chunk(
        index, ["tool_calls": .array([.object(["index": .integer(Int64(call)), "function": function])])])
    case .callEnd(let call):
      guard call < answers[index].calls.count, format.isCustom(answers[index].calls[call]) else { return "" }
      let input = JSONValue.object(["input": .string(answers[index].calls[call].customInput)])
      return chunk(index, ["tool_calls": .array([.object(["index": .integer(Int64(call)), "custom": input])])])
    case .progress(let progress): return sse(format.envelope(progress))
    case .rejected(let call):
      if call.index != nil { answers[index].cutCall = answers[index].calls.popLast() }
      return chunk(index, ["rejected_tool_calls": .array([ChatFormat.rejected(call)])])
    case .token(let token, _):
      if format.request.wantsLogprobs { waiting[index].append(token) }
      return ""
    case .trimmed: return ""
    case .finished:
      open -= 1
      answers[index].add(segment)
      return chunk(index, [:], finish: format.finishReason(answers[index]))
    }
  }

  private mutating func chunk(
    _ index: Int, _ delta: KeyValuePairs<String, JSONValue>, finish: String? = nil
  ) -> String {
    var logprobs = JSONValue.null
    if !waiting[index].isEmpty {
      logprobs = format.tokens.chatLogprobs(waiting[index])
      waiting[index] = []
    }
    let choice = JSONValue.object([
      "index": .integer(Int64(index)), "delta": .object(delta), "logprobs": logprobs,
      "finish_reason": finish.map { .string($0) } ?? .null,
    ])
    return sse(
      format.envelope(
        "chat.completion.chunk", [choice], usage: format.request.includesUsage ? .null : nil,
        timings: finish == nil ? nil : answers[index].completion))
  }

  private func failure(_ error: APIError) -> String {
    sse(.object(["error": error.openAIBody])) + "data: [DONE]\n\n"
  }
}

/// One server-sent event, with a name if the API has them.
func sse(_ data: JSONValue, event: String? = nil) -> String {
  (event.map { "event: \($0)\n" } ?? "") + "data: \(data.text)\n\n"
}

extension [Answer] {
  /// The completion whose times are reported: concurrent answers have no common ones.
  var timed: Completion? { count == 1 ? first?.completion : nil }
}

extension JSONValue {
  /// OpenAI's envelope around choices; without `usage` and llama.cpp's `timings` when they are nil.
  static func answer(
    id: String, object: String, created: Int64, model: String, choices: [JSONValue], usage: JSONValue?,
    timings: Completion? = nil
  ) -> JSONValue {
    var members: [Member] = [
      .init(key: "id", value: .string(id)), .init(key: "object", value: .string(object)),
      .init(key: "created", value: .integer(created)), .init(key: "model", value: .string(model)),
      .init(key: "choices", value: .array(choices)),
    ]
    if let usage { members.append(.init(key: "usage", value: usage)) }
    if let timings { members.append(.init(key: "timings", value: LlamaFormat.timings(timings))) }
    return .object(members)
  }

  /// Image tokens are listed only where there are any: OpenAI's own answers have no such field.
  static func promptDetails(cached: Int, images: Int) -> JSONValue {
    let images = images > 0 ? [JSONValue.Member(key: "image_tokens", value: .integer(Int64(images)))] : []
    return .object([.init(key: "cached_tokens", value: .integer(Int64(cached)))] + images)
  }

  /// OpenAI's `usage`. Answers to the same prompt count it once.
  static func usage(_ answers: [Answer], prompts: Int = 1) -> JSONValue {
    let usages = answers.compactMap(\.completion?.usage)
    let perPrompt = max(1, answers.count / max(1, prompts))
    let firsts = answers.enumerated().filter { $0.offset % perPrompt == 0 }.compactMap(\.element.completion?.usage)
    let prompt = firsts.reduce(0) { $0 + $1.promptTokens }
    let cached = firsts.reduce(0) { $0 + $1.cachedTokens }
    let images = firsts.reduce(0) { $0 + $1.imageTokens }
    let completion = usages.reduce(0) { $0 + $1.completionTokens }
    let timings = answers.compactMap(\.completion?.timings)
    let drafted = timings.reduce(0) { $0 + $1.draftedTokens }
    let accepted = timings.reduce(0) { $0 + $1.acceptedTokens }
    return .object([
      "prompt_tokens": .integer(Int64(prompt)), "completion_tokens": .integer(Int64(completion)),
      "total_tokens": .integer(Int64(prompt + completion)),
      "prompt_tokens_details": promptDetails(cached: cached, images: images),
      "completion_tokens_details": .object([
        "reasoning_tokens": .integer(Int64(answers.reduce(0) { $0 + $1.reasoningTokens })),
        "accepted_prediction_tokens": .integer(Int64(accepted)),
        "rejected_prediction_tokens": .integer(Int64(drafted - accepted)),
      ]),
    ])
  }
}
