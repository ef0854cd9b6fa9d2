// LlamaFormat: answers of llama.cpp's /completion and /infill, whole and as events.
import PagodaKit

struct LlamaFormat: AnswerFormat {
  let request: LlamaRequest
  let model: String
  let tokens: TokenTexts

  var errorShape: APIError.Shape { .openAI }
  var unknownFields: [String] { request.unknownFields }

  func encoder(promptTokens: Int) -> LlamaEncoder { LlamaEncoder(format: self) }

  func response(_ answers: [Answer]) -> JSONValue {
    let answer = answers[0]
    return .object(part(answer.text, answer.tokens, completion: answer.completion))
  }

  /// A part of an answer; the last part, or the whole answer, includes the finish reason.
  func part(_ text: String, _ list: [TokenInfo], completion: Completion?) -> [JSONValue.Member] {
    let ids = request.wantsTokens ? list.map { JSONValue.integer(Int64($0.id)) } : []
    var members: [JSONValue.Member] = [
      .init(key: "index", value: .integer(0)), .init(key: "content", value: .string(text)),
      .init(key: "tokens", value: .array(ids)), .init(key: "stop", value: .bool(completion != nil)),
    ]
    if request.generation.request.sampling.topLogProbabilities != nil {
      members.append(
        .init(key: "completion_probabilities", value: tokens.chatLogprobs(list)["content"] ?? .array([])))
    }
    guard let completion else { return members }
    let kind = completion.finishReason == .length ? "limit" : completion.stopString == nil ? "eos" : "word"
    members += [
      .init(key: "model", value: .string(model)), .init(key: "truncated", value: .bool(false)),
      .init(key: "stop_type", value: .string(kind)),
      .init(key: "stopping_word", value: .string(completion.stopString ?? "")),
      .init(key: "tokens_predicted", value: .integer(Int64(completion.usage.completionTokens))),
      .init(key: "tokens_evaluated", value: .integer(Int64(completion.usage.promptTokens))),
      .init(key: "tokens_cached", value: .integer(Int64(completion.usage.cachedTokens))),
      .init(key: "timings", value: Self.timings(completion)),
    ]
    return members
  }

  static func timings(_ completion: Completion) -> JSONValue {
    let (usage, times) = (completion.usage, completion.timings)
    let read = usage.promptTokens - usage.cachedTokens
    func rate(_ count: Int, _ milliseconds: Double) -> JSONValue {
      milliseconds > 0 ? .number(Double(count) * 1000 / milliseconds) : .null
    }
    func each(_ count: Int, _ milliseconds: Double) -> JSONValue {
      count > 0 ? .number(milliseconds / Double(count)) : .null
    }
    return .object([
      "cache_n": .integer(Int64(usage.cachedTokens)), "prompt_n": .integer(Int64(read)),
      "prompt_ms": .number(times.promptMilliseconds), "prompt_per_token_ms": each(read, times.promptMilliseconds),
      "prompt_per_second": rate(read, times.promptMilliseconds),
      "predicted_n": .integer(Int64(usage.completionTokens)), "predicted_ms": .number(times.generationMilliseconds),
      "predicted_per_token_ms": each(usage.completionTokens, times.generationMilliseconds),
      "predicted_per_second": rate(usage.completionTokens, times.generationMilliseconds),
      "draft_n": .integer(Int64(times.draftedTokens)), "draft_n_accepted": .integer(Int64(times.acceptedTokens)),
    ])
  }
}

struct LlamaEncoder: StreamEncoder {
  let format: LlamaFormat
  private var waiting: [TokenInfo] = []  // tokens whose text has not been sent yet

  init(format: LlamaFormat) { self.format = format }

  mutating func opening() -> String { "" }

  mutating func encode(_ item: StreamItem) -> (text: String, isLast: Bool) {
    switch item {
    case .keepAlive: return (": keep-alive\n\n", false)
    case .text(let text): return (text, false)
    case .cut(let reason): return (failure(reason), true)
    case .event(_, .failure(let error)): return (failure(APIError(error)), true)
    case .event(_, .success(let segment)):
      switch segment {
      case .text(let text), .reasoning(let text): return (part(text), false)
      // not asked for
      case .callBegin, .callArguments, .callEnd, .rejected, .progress, .trimmed: return ("", false)
      case .token(let token, _):
        waiting.append(token)
        return ("", false)
      case .finished(let completion, _): return (part("", completion: completion), true)
      }
    }
  }

  private mutating func part(_ text: String, completion: Completion? = nil) -> String {
    defer { waiting = [] }
    return sse(.object(format.part(text, waiting, completion: completion)))
  }

  private func failure(_ error: APIError) -> String { sse(.object(["error": error.openAIBody])) }
}
