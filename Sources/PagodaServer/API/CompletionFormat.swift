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

  func encoder(_ readers: [AnswerReader], promptTokens: Int) -> CompletionEncoder { CompletionEncoder(format: self) }

  func response(_ answers: [Answer]) -> JSONValue {
    let choices = answers.enumerated().map { index, answer in
      choice(
        index, echo(index) + answer.text,
        logprobs: request.logprobs == nil ? .null : tokens.completionLogprobs(answer.tokens),
        finish: answer.finishReason)
    }
    return envelope(choices, usage: .usage(answers, prompts: request.generation.prompts.count))
  }

  /// The prompt of an answer, if it is to be repeated.
  func echo(_ index: Int) -> String {
    guard request.echoes, case .text(let text) = request.generation.prompts[index / request.generation.answers] else {
      return ""
    }
    return text
  }

  func choice(_ index: Int, _ text: String, logprobs: JSONValue, finish: String?) -> JSONValue {
    .object([
      "index": .integer(Int64(index)), "text": .string(text), "logprobs": logprobs,
      "finish_reason": finish.map { .string($0) } ?? .null,
    ])
  }

  func envelope(_ choices: [JSONValue], usage: JSONValue?) -> JSONValue {
    .answer(
      id: id, object: "text_completion", created: created, model: request.model, choices: choices, usage: usage)
  }
}

struct CompletionEncoder: StreamEncoder {
  let format: CompletionFormat
  private var answers: [Answer]
  private var waiting: [[TokenInfo]]
  private var offsets: [Int]  // of the text sent, in scalars
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
    case .cut: return (failure(APIError.shuttingDown), true)
    case .event(_, .failed(let error)): return (failure(APIError(error)), true)
    case .event(let index, .engine(let event)):
      switch event {
      case .text(let text), .reasoning(let text): return (chunk(index, text), false)
      case .toolCall, .rejectedToolCall: return ("", false)  // the engine was given no tools
      case .token(let token):
        if format.request.logprobs != nil { waiting[index].append(token) }
        // No text will come of a model without a tokenizer: a streaming client still sees each token.
        return (format.tokens.tokenizer == nil ? chunk(index, "") : "", false)
      case .finished(let completion):
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
    return sse(format.envelope([choice], usage: format.request.includesUsage ? .null : nil))
  }

  private func failure(_ error: APIError) -> String {
    sse(.object(["error": error.openAIBody])) + "data: [DONE]\n\n"
  }
}
