// Generator: runs generations on the engine and hands what comes to a stream or to a whole response.
import Foundation
import PagodaKit

/// How an endpoint words its answers.
protocol AnswerFormat: Sendable {
  associatedtype Encoder: StreamEncoder
  var errorShape: APIError.Shape { get }
  /// Fields of the request that were ignored though nobody knows them.
  var unknownFields: [String] { get }
  /// Readers, and later answers, are ordered by prompt and then by answer.
  func encoder(_ readers: [AnswerReader], promptTokens: Int) -> Encoder
  func response(_ answers: [Answer]) -> JSONValue
}

extension AnswerFormat {
  var noticeHeaders: [HTTPHeader] {
    let fields = unknownFields.prefix(20).map { $0.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") } }
    return fields.isEmpty ? [] : [HTTPHeader("x-pagoda-ignored-fields", fields.joined(separator: ", "))]
  }
}

final class Generator: Sendable {
  let engine: Engine
  let admission: Admission
  let metrics: Metrics
  let pendingEvents: Int

  init(engine: Engine, admission: Admission, metrics: Metrics, pendingEvents: Int) {
    self.engine = engine
    self.admission = admission
    self.metrics = metrics
    self.pendingEvents = pendingEvents
  }

  /// Runs on a worker. Throws what can be said before anything was generated.
  func run(
    _ generation: Generation, format: some AnswerFormat, on exchange: Exchange,
    dispatch: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) throws {
    try generation.check()
    try admission.enter(generation.sequenceCount)
    let prompts: [PreparedPrompt]
    let readers: [AnswerReader]
    do {
      prompts = try generation.prompts.map { try prepare($0, of: generation) }
      readers = try prompts.flatMap { prompt in try (0..<generation.answers).map { _ in try prompt.reader() } }
    } catch {
      admission.leave(generation.sequenceCount)
      throw error
    }
    let run = AnswerRun(self)
    exchange.onGone { run.cancel() }
    if generation.isStream {
      let tokens = prompts.reduce(0) { $0 + $1.ids.count }
      let encoder = format.encoder(readers, promptTokens: tokens)
      let body = StreamBody(encoder, maximumPending: pendingEvents) { [weak exchange] in exchange?.abandon() }
      try start(run, generation, prompts) { body.push(.event(choice: $0, $1)) }
      exchange.reply(
        .stream(
          [
            HTTPHeader("Content-Type", "text/event-stream; charset=utf-8"), HTTPHeader("Cache-Control", "no-cache"),
            HTTPHeader("X-Accel-Buffering", "no"),
          ] + format.noticeHeaders, body))
    } else {
      let collector = AnswerCollector(readers) { answers in
        dispatch { exchange.reply(.whole(Self.response(answers, format))) }
      }
      try start(run, generation, prompts) { collector.add($1, to: $0) }
    }
  }

  private static func response(_ answers: [Answer], _ format: some AnswerFormat) -> HTTPResponse {
    if let failure = answers.compactMap(\.failure).first { return APIError(failure).response(format.errorShape) }
    return .json(format.response(answers), headers: format.noticeHeaders)
  }

  private func prepare(_ prompt: Generation.Prompt, of generation: Generation) throws -> PreparedPrompt {
    let encoded =
      switch prompt {
      case .chat(let chat): try engine.encode(chat)
      case .text(let text): try engine.encode(.text(text), thinking: nil)
      case .tokens(let ids): try engine.encode(.tokens(ids), thinking: nil)
      }
    var prepared = PreparedPrompt(ids: encoded.ids, opening: encoded.opening, tools: generation.tools)
    if let forced = generation.forcedCall {
      if encoded.opening == .reasoning {
        throw APIError.invalid(
          "a call cannot be forced while the model thinks; turn thinking off", param: "tool_choice")
      }
      prepared.prefix = forced.opening(in: encoded.text)
      prepared.ids += try engine.tokenizer?.encode(prepared.prefix, parsingSpecialTokens: true) ?? []
    }
    try checkLength(prepared.ids.count, generation)
    return prepared
  }

  /// OpenAI's words, which clients look for before they shorten a conversation.
  private func checkLength(_ count: Int, _ generation: Generation) throws {
    let context = engine.info.plan.maximumModelLength
    if count == 0 { throw APIError.invalid("the prompt is empty", param: generation.promptField) }
    let wanted = generation.sampling.maximumTokens
    guard count + (wanted ?? 1) > context else { return }
    let (part, field) = (generation.promptField, generation.limitField)
    let request =
      wanted.map { "you requested \(count + $0) tokens (\(count) in the \(part), \($0) in \(field))" }
      ?? "your \(part) resulted in \(count) tokens, which leaves no room for an answer"
    throw APIError.invalid(
      "This model's maximum context length is \(context) tokens. However, \(request). "
        + "Please reduce the length of the \(part)\(wanted == nil ? "" : " or \(field)").",
      param: count >= context ? part : field, code: "context_length_exceeded")
  }

  /// Submits every sequence. If one is refused, those before it are cancelled.
  private func start(
    _ run: AnswerRun, _ generation: Generation, _ prompts: [PreparedPrompt],
    deliver: @escaping @Sendable (Int, StreamEvent) -> Void
  ) throws {
    for index in 0..<generation.sequenceCount {
      // The engine gives the raw text: reasoning and tool calls are told apart by the reader.
      let ids = prompts[index / generation.answers].ids
      var request = Request(prompt: .tokens(ids), sampling: generation.sampling)
      request.grammar = generation.grammar
      request.cacheSalt = generation.cacheSalt
      if let seed = request.sampling.seed { request.sampling.seed = seed &+ UInt64(index % generation.answers) }
      do {
        try run.start(request, tokens: ids.count, index: index, deliver: deliver)
      } catch {
        run.cancel()
        admission.leave(generation.sequenceCount - index)
        throw generation.grammar == nil ? error : Self.grammarError(error, generation.grammarField)
      }
    }
  }
}

extension Generator {
  /// What is wrong with a schema is said with the field that it came in.
  private static func grammarError(_ error: any Error, _ field: String) -> any Error {
    switch error {
    case PagodaError.invalidArgument(let message), PagodaError.unsupported(let message),
      PagodaError.resourceExhausted(let message):
      APIError.invalid(message, param: field, code: "invalid_schema")
    default: error
    }
  }
}

/// A prompt ready for the engine, and what its answers are read with.
struct PreparedPrompt: Sendable {
  var ids: [Int32]
  var opening: OutputParser.Opening
  var tools: [JSONValue]
  var prefix = ""  // of the answer, at the end of the prompt

  func reader() throws -> AnswerReader { try AnswerReader(opening: opening, tools: tools, prefix: prefix) }
}
