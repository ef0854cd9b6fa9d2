// Generator: runs generations on the engine and passes the events to a stream or to a whole response.
import Foundation
import PagodaKit

/// The format of an endpoint's answers.
protocol AnswerFormat: Sendable {
  associatedtype Encoder: StreamEncoder
  var errorShape: APIError.Shape { get }
  /// The Content-Type of streams.
  var streamType: String { get }
  /// Unknown fields of the request, which were ignored.
  var unknownFields: [String] { get }
  /// - Parameter promptTokens: of all prompts together.
  func encoder(promptTokens: Int) -> Encoder
  /// Answers are ordered by prompt and then by answer.
  func response(_ answers: [Answer]) -> JSONValue
  /// An answer in progress, and how to end it early; `ended` is called when it is over.
  func began(cancel: @escaping @Sendable () -> Void)
  func ended()
}

extension AnswerFormat {
  func began(cancel: @escaping @Sendable () -> Void) {}
  func ended() {}

  var streamType: String { "text/event-stream; charset=utf-8" }

  var noticeHeaders: [HTTPHeader] { NoticeFields(names: unknownFields).headers }
}

/// Fields of a request that were ignored, as a header of its answer.
struct NoticeFields {
  var names: [String]

  var headers: [HTTPHeader] {
    let fields = names.prefix(20).map {
      String($0.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }.prefix(64))
    }
    return fields.isEmpty ? [] : [HTTPHeader("x-pagoda-ignored-fields", fields.joined(separator: ", "))]
  }
}

final class Generator: Sendable {
  let engine: Engine
  let admission: Admission
  let metrics: ModelMetrics
  let pendingEvents: Int
  private let grammars: GrammarPool
  let fillInMiddle: FillInMiddle?

  init(engine: Engine, admission: Admission, grammars: GrammarPool, metrics: ModelMetrics, pendingEvents: Int) {
    self.engine = engine
    self.admission = admission
    self.grammars = grammars
    self.metrics = metrics
    self.pendingEvents = pendingEvents
    fillInMiddle = FillInMiddle(engine.tokenizer)
  }

  typealias Dispatch = @Sendable (@escaping @Sendable () -> Void) -> Void

  /// Runs on a worker. Throws errors that are detected before anything is generated.
  func run(
    _ generation: Generation, format: some AnswerFormat, on exchange: Exchange, dispatch: @escaping Dispatch
  ) throws {
    try generation.check()
    try admission.enter(generation.sequenceCount)
    let prompts: [PreparedPrompt]
    let logprobBytes: Int
    do {
      prompts = try generation.prompts.map { try prepare($0, of: generation) }
      logprobBytes = generation.logprobBytes(prompts, context: engine.info.plan.maximumModelLength)
      try admission.enter(logprobBytes: logprobBytes)
    } catch {
      admission.leave(generation.sequenceCount)
      throw error
    }
    let start = Start(generation: generation, prompts: prompts, logprobBytes: logprobBytes)
    let isCompiled = prompts.allSatisfy { engine.hasGrammar(of: start.constraint(of: $0)) }
    if isCompiled { return try begin(start, format: format, on: exchange, dispatch: dispatch) }
    do {
      try grammars.add(key: generation.request.shareID ?? "") { [self] in
        compile(start, format, exchange) {
          dispatch { [self] in
            answering(exchange, format) { try begin(start, format: format, on: exchange, dispatch: dispatch) }
          }
        }
      }
    } catch {
      leave(start)
      throw error
    }
  }

  /// An admitted request with its prompts.
  private struct Start: Sendable {
    var generation: Generation
    var prompts: [PreparedPrompt]
    var logprobBytes: Int

    /// A request whose constraint is that of the prompt's answers.
    func constraint(of prompt: PreparedPrompt) -> Request {
      var request = generation.request
      request.callGrammar = prompt.callGrammar
      return request
    }
  }

  private func leave(_ start: Start) {
    admission.leave(start.generation.sequenceCount)
    admission.leave(logprobBytes: start.logprobBytes)
  }

  /// Runs on a thread of the pool; `next` follows unless a constraint is refused.
  private func compile(
    _ start: Start, _ format: some AnswerFormat, _ exchange: Exchange, next: @escaping @Sendable () -> Void
  ) {
    do {
      if exchange.isGone { throw APIError.shuttingDown }  // the client cannot receive it
      for prompt in start.prompts { try engine.compileGrammar(of: start.constraint(of: prompt)) }
    } catch {
      leave(start)
      return answering(exchange, format) { throw Self.refusal(error, start.generation) }
    }
    next()
  }

  private func answering(_ exchange: Exchange, _ format: some AnswerFormat, _ work: () throws -> Void) {
    do {
      try work()
    } catch {
      exchange.reply(.whole(APIError(any: error).response(format.errorShape)))
    }
  }

  /// Submits the sequences of an admitted request. Runs on a worker.
  private func begin(
    _ admitted: Start, format: some AnswerFormat, on exchange: Exchange, dispatch: @escaping Dispatch
  ) throws {
    let (generation, prompts, logprobBytes) = (admitted.generation, admitted.prompts, admitted.logprobBytes)
    let headers = format.noticeHeaders + Self.clampHeaders(prompts, generation) + Self.omissionHeaders(prompts)
    let run = AnswerRun(self, exchange.record, sequences: generation.sequenceCount)
    format.began { [weak run] in run?.cancel() }
    exchange.onGone {
      run.cancel()
      format.ended()
    }
    if generation.isStream {
      let tokens = prompts.reduce(0) { $0 + $1.ids.count }
      let encoder = format.encoder(promptTokens: tokens)
      let body = StreamBody(encoder, maximumPending: pendingEvents) { [weak exchange] in exchange?.stopWork() }
      try start(run, generation, prompts, ended: format.ended) { body.push(.event(choice: $0, $1)) }
      exchange.reply(
        .stream(
          [
            HTTPHeader("Content-Type", format.streamType), HTTPHeader("Cache-Control", "no-cache"),
            HTTPHeader("X-Accel-Buffering", "no"),
          ] + headers, body))
    } else {
      let collector = AnswerCollector(generation.sequenceCount) { [admission] answers in
        dispatch {
          exchange.reply(.whole(Self.response(answers, format, headers)))
          admission.leave(logprobBytes: logprobBytes)
        }
      }
      let ended = { [admission] in
        format.ended()
        admission.leave(logprobBytes: logprobBytes)
      }
      try start(run, generation, prompts, ended: ended) { collector.add($1, to: $0) }
    }
  }

  private static func response(
    _ answers: [Answer], _ format: some AnswerFormat, _ headers: [HTTPHeader]
  ) -> HTTPResponse {
    if answers.contains(where: { $0.failure != nil }) { format.ended() }
    if let failure = answers.compactMap(\.failure).first { return APIError(failure).response(format.errorShape) }
    return .json(format.response(answers), headers: headers)
  }

  /// Reports that a limit exceeded the context.
  private static func clampHeaders(_ prompts: [PreparedPrompt], _ generation: Generation) -> [HTTPHeader] {
    guard let least = prompts.compactMap(\.clampedTokens).min() else { return [] }
    return [HTTPHeader("x-pagoda-clamped-fields", "\(generation.limitField)=\(least)")]
  }

  /// Reports how many messages at the start of the conversation were left out.
  private static func omissionHeaders(_ prompts: [PreparedPrompt]) -> [HTTPHeader] {
    let count = prompts.map(\.omittedMessages).max() ?? 0
    return count > 0 ? [HTTPHeader("x-pagoda-omitted-messages", String(count))] : []
  }

  /// Submits every sequence. If one is refused, those before it are cancelled.
  private func start(
    _ run: AnswerRun, _ generation: Generation, _ prompts: [PreparedPrompt],
    ended: () -> Void, deliver: @escaping @Sendable (Int, StreamEvent) -> Void
  ) throws {
    for index in 0..<generation.sequenceCount {
      let prompt = prompts[index / generation.answers]
      var request = generation.request
      request.prompt = .tokens(prompt.ids)
      request.answerForm = AnswerForm(opening: prompt.opening, tools: prompt.tools)
      if case .middle = generation.prompts[index / generation.answers], !request.sampling.ignoresEndOfText {
        request.sampling.stopTokens += fillInMiddle?.stopTokens ?? []
      }
      if let tokens = prompt.clampedTokens {
        // By default the thinking leaves room for the answer, as in the engine.
        let isDefault =
          request.sampling.maximumTokens == nil && engine.thinkingTokens.close != nil && prompt.hasThinkingTags
        if isDefault { request.sampling.thinkingBudget = request.sampling.thinkingBudget ?? tokens - tokens / 4 }
        request.sampling.maximumTokens = tokens
      }
      request.hasThinkingTags = prompt.hasThinkingTags
      request.placedImages = prompt.images
      request.callGrammar = prompt.callGrammar
      if let text = generation.prediction {
        request.predictionTokens = try engine.tokenizer?.encode(text, parsingSpecialTokens: false) ?? []
      }
      if let seed = request.sampling.seed { request.sampling.seed = seed &+ UInt64(index % generation.answers) }
      do {
        try run.start(request, tokens: prompt.ids.count, index: index, deliver: deliver)
      } catch {
        run.cancel()
        ended()
        admission.leave(generation.sequenceCount - index)
        throw Self.refusal(error, generation)
      }
    }
  }
}

extension Generator {
  /// An error of the core under the request's own name for the field. A schema or a grammar has many places, and an
  /// image no name, so that clients tell those by a code.
  private static func refusal(_ error: any Error, _ generation: Generation) -> any Error {
    guard let refused = error as? RefusedField else { return error }
    switch refused.error {
    case .invalidArgument, .unsupported, .resourceExhausted: break
    default: return refused.error
    }
    func invalid(_ param: String, code: String? = nil) -> APIError {
      let names = FieldNames([refused.field: param])
      return .invalid((code == nil ? refused.named(names) : refused.error).message, param: param, code: code)
    }
    return switch refused.field {
    case "max_tokens": invalid(generation.limitField)
    case "stop_ids": invalid("stop_token_ids")
    case "num_top_logprobs": invalid("top_logprobs")
    case "num_prompt_logprobs": invalid("prompt_logprobs")
    case "prompt_ids": invalid(generation.promptField)
    case "images": invalid(generation.promptField, code: "invalid_image")
    case "grammar": invalid(generation.grammarField, code: "invalid_schema")
    case "tools": invalid("tools", code: "invalid_schema")
    default: invalid(refused.field)
    }
  }
}
