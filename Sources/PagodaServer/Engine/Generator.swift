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
  /// Readers, and the answers built from them, are ordered by prompt and then by answer.
  func encoder(_ readers: [AnswerReader], promptTokens: Int) -> Encoder
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
      String($0.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }.prefix(64))
    }
    return fields.isEmpty ? [] : [HTTPHeader("x-pagoda-ignored-fields", fields.joined(separator: ", "))]
  }
}

final class Generator: Sendable {
  let engine: Engine
  let admission: Admission
  let metrics: Metrics
  let pendingEvents: Int
  private let thinking: ThinkingTokens
  let fillInMiddle: FillInMiddle?

  init(engine: Engine, admission: Admission, metrics: Metrics, pendingEvents: Int) {
    self.engine = engine
    self.admission = admission
    self.metrics = metrics
    self.pendingEvents = pendingEvents
    thinking = ThinkingTokens(engine.tokenizer)
    fillInMiddle = FillInMiddle(engine.tokenizer)
  }

  /// Runs on a worker. Throws errors that are detected before anything is generated.
  func run(
    _ generation: Generation, format: some AnswerFormat, on exchange: Exchange,
    dispatch: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) throws {
    try generation.check()
    try admission.enter(generation.sequenceCount)
    let prompts: [PreparedPrompt]
    let readers: [AnswerReader]
    let logprobBytes: Int
    do {
      prompts = try generation.prompts.map { try prepare($0, of: generation) }
      readers = try prompts.flatMap { prompt in
        try (0..<generation.answers).map { _ in try prompt.reader(thinking) }
      }
      logprobBytes = generation.logprobBytes(prompts, context: engine.info.plan.maximumModelLength)
      try admission.enter(logprobBytes: logprobBytes)
    } catch {
      admission.leave(generation.sequenceCount)
      throw error
    }
    let headers =
      format.noticeHeaders + Self.clampHeaders(prompts, generation) + Self.omissionHeaders(prompts)
      + generation.headers
    let run = AnswerRun(self, exchange.record)
    format.began { [weak run] in run?.cancel() }
    exchange.onGone {
      run.cancel()
      format.ended()
    }
    if generation.isStream {
      let tokens = prompts.reduce(0) { $0 + $1.ids.count }
      let encoder = format.encoder(readers, promptTokens: tokens)
      let body = StreamBody(encoder, maximumPending: pendingEvents) { [weak exchange] in exchange?.abandon() }
      try start(run, generation, prompts, ended: format.ended) { body.push(.event(choice: $0, $1)) }
      exchange.reply(
        .stream(
          [
            HTTPHeader("Content-Type", format.streamType), HTTPHeader("Cache-Control", "no-cache"),
            HTTPHeader("X-Accel-Buffering", "no"),
          ] + headers, body))
    } else {
      let collector = AnswerCollector(readers) { [admission] answers in
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

  func prepare(_ prompt: Generation.Prompt, of generation: Generation) throws -> PreparedPrompt {
    var omitted = 0
    let encoded =
      switch prompt {
      case .chat(let chat): try encode(chat, of: generation, omitted: &omitted)
      case .text(let text): try engine.encode(.text(text), thinking: nil)
      case .tokens(let ids): try engine.encode(.tokens(ids), thinking: nil)
      case .middle(let prefix, let suffix): try encode(before: prefix, after: suffix)
      }
    var prepared = PreparedPrompt(ids: encoded.ids, opening: encoded.opening, tools: generation.tools)
    prepared.omittedMessages = omitted
    prepared.hasThinkingTags = encoded.hasThinkingTags
    prepared.callGrammar = generation.callGrammar(prompt: encoded.text)
    if let continued = generation.continued {
      prepared.opening = .textOnly
      prepared.ids += try encode(continued, opening: encoded.opening)
    }
    prepared.clampedTokens = try checkLength(prepared.ids.count, generation)
    return prepared
  }

  private func encode(_ chat: ChatPrompt, of generation: Generation, omitted: inout Int) throws -> EncodedPrompt {
    guard generation.contextPolicy == .trim else { return try engine.encode(chat) }
    let trimmed = try engine.encodeTrimmed(chat, maximumTokens: generation.sampling.maximumTokens)
    omitted = trimmed.omittedMessages
    return trimmed.encoded
  }

  private func encode(before prefix: String, after suffix: String) throws -> EncodedPrompt {
    guard let fillInMiddle, let tokenizer = engine.tokenizer else {
      throw APIError.invalid(
        "suffix needs a model with fill-in-the-middle tokens such as <|fim_prefix|>, and this one has none",
        param: "suffix")
    }
    let ids = try fillInMiddle.encode(before: prefix, after: suffix, tokenizer)
    var encoded = try engine.encode(.tokens(ids), thinking: nil)
    encoded.hasThinkingTags = false
    return encoded
  }

  /// The part of the answer supplied by the client. If the template has opened the thinking, it is closed.
  private func encode(_ continued: Continued, opening: OutputParser.Opening) throws -> [Int32] {
    guard let tokenizer = engine.tokenizer else { return [] }
    var ids: [Int32] = []
    if opening == .reasoning {
      ids += try tokenizer.encode(continued.reasoning, parsingSpecialTokens: false)
      ids += try tokenizer.encode("\n</think>\n\n", parsingSpecialTokens: true)
    }
    return ids + (try tokenizer.encode(continued.text, parsingSpecialTokens: false))
  }

  /// Returns the limit that fits if the given one does not. The wording is OpenAI's, because clients look for it before
  /// they shorten a conversation.
  private func checkLength(_ count: Int, _ generation: Generation) throws -> Int? {
    let context = engine.info.plan.maximumModelLength
    let part = generation.promptField
    if count == 0 { throw APIError.invalid("the prompt is empty", param: part) }
    if count >= context {
      throw APIError.invalid(
        "This model's maximum context length is \(context) tokens. However, your \(part) resulted in \(count) tokens, "
          + "which leaves no room for an answer. Please reduce the length of the \(part).",
        param: part, code: "context_length_exceeded")
    }
    guard let wanted = generation.sampling.maximumTokens, count + wanted > context else { return nil }
    return context - count
  }

  /// Submits every sequence. If one is refused, those before it are cancelled.
  private func start(
    _ run: AnswerRun, _ generation: Generation, _ prompts: [PreparedPrompt],
    ended: () -> Void, deliver: @escaping @Sendable (Int, StreamEvent) -> Void
  ) throws {
    for index in 0..<generation.sequenceCount {
      // The engine returns the raw text: the reader separates reasoning and tool calls.
      let prompt = prompts[index / generation.answers]
      var request = Request(prompt: .tokens(prompt.ids), sampling: generation.sampling)
      if case .middle = generation.prompts[index / generation.answers], !request.sampling.ignoresEndOfText {
        request.sampling.stopTokens += fillInMiddle?.stopTokens ?? []
      }
      if let tokens = prompt.clampedTokens { request.sampling.maximumTokens = tokens }
      request.hasThinkingTags = prompt.hasThinkingTags
      request.grammar = generation.grammar
      request.priority = generation.priority
      request.shareID = generation.shareID
      request.callGrammar = prompt.callGrammar
      request.cacheSalt = generation.cacheSalt
      request.speculates = generation.speculates
      request.promptProgressInterval = generation.progressInterval
      request.promptLogProbabilities = generation.promptLogProbabilities
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
  /// Adds the request field that caused it to an error of the core. Messages about sampling start with the core's name
  /// of the field; all others are about the schema, if the request has one.
  private static func refusal(_ error: any Error, _ generation: Generation) -> any Error {
    guard let message = (error as? PagodaError)?.refusal else { return error }
    let word = String(message.prefix { $0.isLetter || $0 == "_" })
    let renamed = [
      "max_tokens": generation.limitField, "stop_ids": "stop_token_ids", "num_top_logprobs": "top_logprobs",
    ]
    let field = renamed[word] ?? word
    if FieldTable.sampling.union(["top_logprobs", "cache_salt", generation.limitField]).contains(field) {
      return APIError.invalid(field + message.dropFirst(word.count), param: field)
    }
    let isAboutTools = message.hasPrefix("tool ") || (generation.grammar == nil && generation.forcedCall != nil)
    if isAboutTools { return APIError.invalid(message, param: "tools", code: "invalid_schema") }
    if generation.grammar == nil { return error }
    return APIError.invalid(message, param: generation.grammarField, code: "invalid_schema")
  }
}

extension PagodaError {
  /// The message of an error that the request caused.
  fileprivate var refusal: String? {
    switch self {
    case .invalidArgument(let message), .unsupported(let message), .resourceExhausted(let message): message
    default: nil
    }
  }
}

/// A prompt ready for the engine, and the parser of its answers.
struct PreparedPrompt: Sendable {
  var ids: [Int32]
  var opening: OutputParser.Opening
  var tools: [JSONValue]
  var callGrammar: String?
  var clampedTokens: Int?  // the maximum that fits, if more were requested
  var hasThinkingTags = true  // see EncodedPrompt
  var omittedMessages = 0  // left out at the start of the conversation, see ContextPolicy

  func reader(_ thinking: ThinkingTokens) throws -> AnswerReader {
    try AnswerReader(opening: opening, tools: tools, thinking: thinking)
  }
}
