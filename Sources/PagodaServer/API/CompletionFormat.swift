// CompletionFormat: answers of /v1/completions, whole and as chunks.
import Foundation
import PagodaKit

struct CompletionFormat: AnswerFormat {
  let request: CompletionRequest
  let tokens: TokenTexts
  let id = randomID("cmpl-")
  let created = Int64(Date().timeIntervalSince1970)

  var errorShape: APIError.Shape { .openAI }
  var unknownFields: [String] { request.unknownFields }

  func encoder(promptTokens: Int) -> CompletionEncoder { CompletionEncoder(format: self) }

  func response(_ answers: [Answer]) -> JSONValue {
    let choices = chosen(answers).enumerated().map { index, answer in
      choice(
        index, echo(index) + (request.isPromptOnly ? "" : answer.text), logprobs: logprobs(answer),
        prompt: request.promptLogprobs.map { tokens.promptLogprobs(answer, count: $0) },
        finish: request.isPromptOnly ? "length" : answer.finishReason)
    }
    var counted = answers
    if request.isPromptOnly { for index in counted.indices { counted[index].completion?.usage.completionTokens = 0 } }
    return envelope(
      choices, usage: .usage(counted, prompts: request.generation.prompts.count), timings: counted.timed)
  }

  /// Selects the answers to send for each prompt: those with the highest log probability per token.
  private func chosen(_ answers: [Answer]) -> [Answer] {
    let (made, sent) = (request.generation.answers, request.sentAnswers)
    if made == sent { return answers }
    return stride(from: 0, to: answers.count, by: made).flatMap { first in
      let ranked = answers[first..<first + made].enumerated().sorted { a, b in
        let (left, right) = (Self.likelihood(a.element), Self.likelihood(b.element))
        return left != right ? left > right : a.offset < b.offset
      }
      return ranked.prefix(sent).map(\.element)
    }
  }

  private static func likelihood(_ answer: Answer) -> Double {
    let sum = answer.tokens.reduce(0.0) { $0 + Double($1.logProbability ?? 0) }
    return answer.tokens.isEmpty ? 0 : sum / Double(answer.tokens.count)
  }

  /// Log probabilities of the answer, and of the prompt if it is echoed; then every token has an entry in the lists.
  private func logprobs(_ answer: Answer) -> JSONValue {
    guard let count = request.logprobs else { return .null }
    guard request.echoes else { return tokens.completionLogprobs(answer.tokens) }
    let prompt = (answer.completion?.promptTokens ?? []).map { token in
      var token = token
      token.topLogProbabilities = Array(token.topLogProbabilities.prefix(count))
      return token
    }
    return tokens.completionLogprobs(prompt + (request.isPromptOnly ? [] : answer.tokens), isWhole: true)
  }

  /// The prompt of an answer, if it is echoed.
  func echo(_ index: Int) -> String {
    guard request.echoes else { return "" }
    switch request.generation.prompts[index / request.sentAnswers] {
    case .text(let text): return text
    case .tokens(let ids): return (try? tokens.tokenizer?.decode(ids, skippingSpecialTokens: false)) ?? ""
    case .chat, .middle: return ""
    }
  }

  func choice(
    _ index: Int, _ text: String, logprobs: JSONValue, prompt: JSONValue? = nil, finish: String?
  ) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init(key: "index", value: .integer(Int64(index))), .init(key: "text", value: .string(text)),
      .init(key: "logprobs", value: logprobs), .init(key: "finish_reason", value: finish.map { .string($0) } ?? .null),
    ]
    if let prompt { members.append(.init(key: "prompt_logprobs", value: prompt)) }
    return .object(members)
  }

  func envelope(_ choices: [JSONValue], usage: JSONValue?, timings: Completion? = nil) -> JSONValue {
    .answer(
      id: id, object: "text_completion", created: created, model: request.model, choices: choices, usage: usage,
      timings: timings)
  }
}

struct CompletionEncoder: StreamEncoder {
  let format: CompletionFormat
  private var answers: [Answer]
  private var waiting: [[TokenInfo]]
  private var offsets: [Int]  // length of the text sent so far, in scalars
  private var open: Int

  init(format: CompletionFormat) {
    self.format = format
    open = format.request.generation.sequenceCount
    answers = Array(repeating: Answer(), count: open)
    waiting = Array(repeating: [], count: open)
    offsets = Array(repeating: 0, count: open)
  }

  mutating func opening() -> String {
    format.request.echoes ? answers.indices.map { chunk($0, format.echo($0)) }.joined() : ""
  }

  mutating func encode(_ item: StreamItem) -> (text: String, isLast: Bool) {
    switch item {
    case .keepAlive: return (": keep-alive\n\n", false)
    case .text(let text): return (text, false)
    case .cut(let reason): return (failure(reason), true)
    case .event(_, .failure(let error)): return (failure(APIError(error)), true)
    case .event(let index, .success(let segment)):
      switch segment {
      case .text(let text), .reasoning(let text): return (chunk(index, text), false)
      // not asked for
      case .callBegin, .callArguments, .callEnd, .rejected, .progress, .trimmed: return ("", false)
      case .token(let token, _):
        if format.request.logprobs != nil { waiting[index].append(token) }
        // A model without a tokenizer produces no text: a streaming client still sees each token.
        return (format.tokens.tokenizer == nil ? chunk(index, "") : "", false)
      case .finished(let completion, _):
        answers[index].completion = completion
        open -= 1
        var text = chunk(index, "", finish: answers[index].finishReason)
        guard open == 0 else { return (text, false) }
        if format.request.includesUsage {
          text += sse(
            format.envelope([], usage: .usage(answers, prompts: format.request.generation.prompts.count)))
        }
        return (text + "data: [DONE]\n\n", true)
      }
    }
  }

  private mutating func chunk(_ index: Int, _ text: String, finish: String? = nil) -> String {
    var logprobs = JSONValue.null
    if !waiting[index].isEmpty {
      logprobs = format.tokens.completionLogprobs(waiting[index], offset: offsets[index])
      offsets[index] += waiting[index].reduce(0) { $0 + format.tokens.text(of: $1.id).unicodeScalars.count }
      waiting[index] = []
    }
    let choice = format.choice(index, text, logprobs: logprobs, finish: finish)
    return sse(
      format.envelope(
        [choice], usage: format.request.includesUsage ? .null : nil,
        timings: finish == nil ? nil : answers[index].completion))
  }

  private func failure(_ error: APIError) -> String {
    sse(.object(["error": error.openAIBody])) + "data: [DONE]\n\n"
  }
}
