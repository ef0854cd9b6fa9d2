// Generator: runs generations on the engine and hands what comes to a stream or to a whole response.
import Foundation
import PagodaKit

/// How an endpoint words its answers.
protocol AnswerFormat: Sendable {
  associatedtype Encoder: StreamEncoder
  var errorShape: APIError.Shape { get }
  /// Fields of the request that were ignored though nobody knows them.
  var unknownFields: [String] { get }
  /// One opening and prompt length for each prompt.
  func encoder(_ prompts: [EncodedPrompt]) -> Encoder
  /// All answers, ordered by prompt and then by answer.
  func response(_ answers: [Answer], prompts: [EncodedPrompt]) -> JSONValue
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
    let prompts: [EncodedPrompt]
    do {
      prompts = try generation.prompts.map { try encode($0, of: generation) }
    } catch {
      admission.leave(generation.sequenceCount)
      throw error
    }
    let run = AnswerRun(self)
    exchange.onGone { run.cancel() }
    if generation.isStream {
      let body = StreamBody(format.encoder(prompts), maximumPending: pendingEvents) { [weak exchange] in
        exchange?.abandon()
      }
      try start(run, generation, prompts) { body.push(.event(choice: $0, $1)) }
      exchange.reply(
        .stream(
          [
            HTTPHeader("Content-Type", "text/event-stream; charset=utf-8"), HTTPHeader("Cache-Control", "no-cache"),
            HTTPHeader("X-Accel-Buffering", "no"),
          ] + format.noticeHeaders, body))
    } else {
      let collector = AnswerCollector(prompts: prompts, answers: generation.answers) { answers in
        dispatch { exchange.reply(.whole(Self.response(answers, prompts, format))) }
      }
      try start(run, generation, prompts) { collector.add($1, to: $0) }
    }
  }

  private static func response(
    _ answers: [Answer], _ prompts: [EncodedPrompt], _ format: some AnswerFormat
  ) -> HTTPResponse {
    if let failure = answers.compactMap(\.failure).first { return APIError(failure).response(format.errorShape) }
    return .json(format.response(answers, prompts: prompts), headers: format.noticeHeaders)
  }

  private func encode(_ prompt: Generation.Prompt, of generation: Generation) throws -> EncodedPrompt {
    let encoded =
      switch prompt {
      case .chat(let chat): try engine.encode(chat)
      case .text(let text): try engine.encode(.text(text), thinking: nil)
      case .tokens(let ids): try engine.encode(.tokens(ids), thinking: nil)
      }
    try checkLength(encoded.ids.count, generation)
    return encoded
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
    _ run: AnswerRun, _ generation: Generation, _ prompts: [EncodedPrompt],
    deliver: @escaping @Sendable (Int, StreamEvent) -> Void
  ) throws {
    for index in 0..<generation.sequenceCount {
      var prompt = prompts[index / generation.answers]
      prompt.opening = .textOnly  // the raw text: reasoning and tool calls are told apart by the reader
      var sampling = generation.sampling
      if let seed = sampling.seed { sampling.seed = seed &+ UInt64(index % generation.answers) }
      do {
        try run.start(prompt, sampling, index: index, deliver: deliver)
      } catch {
        run.cancel()
        admission.leave(generation.sequenceCount - index)
        throw error
      }
    }
  }
}

/// The sequences of one request on the engine.
final class AnswerRun: @unchecked Sendable {
  private let generator: Generator
  private let lock = NSLock()
  private var cancels: [@Sendable () -> Void] = []  // guarded by `lock`
  private var isCancelled = false  // guarded by `lock`

  init(_ generator: Generator) { self.generator = generator }

  func start(
    _ prompt: EncodedPrompt, _ sampling: SamplingParameters, index: Int,
    deliver: @escaping @Sendable (Int, StreamEvent) -> Void
  ) throws {
    let tokens = WaitingTokens(prompt.ids.count, generator.admission)
    let cancel: @Sendable () -> Void
    do {
      cancel = try generator.engine.start(prompt, sampling: sampling) { [generator] event in
        tokens.release()
        if case .finished(let completion) = event { generator.metrics.ended(completion) }
        deliver(index, .engine(event))
      } end: { [generator] error in
        tokens.release()
        generator.admission.leave()
        guard let error else { return }
        generator.metrics.ended(nil)
        deliver(index, .failed(error))
      }
    } catch {
      tokens.release()
      throw error
    }
    let late = lock.withLock {
      cancels.append(cancel)
      return isCancelled
    }
    if late { cancel() }
  }

  func cancel() {
    let all = lock.withLock {
      isCancelled = true
      return cancels
    }
    for cancel in all { cancel() }
  }
}

/// Counts a prompt as waiting until its first event.
private final class WaitingTokens: @unchecked Sendable {
  private let admission: Admission
  private let lock = NSLock()
  private var count: Int

  init(_ count: Int, _ admission: Admission) {
    self.count = count
    self.admission = admission
    admission.addPromptTokens(count)
  }

  func release() {
    let released = lock.withLock {
      defer { count = 0 }
      return count
    }
    if released > 0 { admission.addPromptTokens(-released) }
  }
}

/// Collects the answers of one request until all have ended.
private final class AnswerCollector: @unchecked Sendable {
  private let lock = NSLock()
  private var answers: [Answer]
  private var readers: [AnswerReader]
  private var open: Int
  private let done: @Sendable ([Answer]) -> Void

  init(prompts: [EncodedPrompt], answers count: Int, done: @escaping @Sendable ([Answer]) -> Void) {
    readers = prompts.flatMap { prompt in Array(repeating: AnswerReader(opening: prompt.opening), count: count) }
    answers = Array(repeating: Answer(), count: readers.count)
    open = readers.count
    self.done = done
  }

  func add(_ event: StreamEvent, to index: Int) {
    let finished: [Answer]? = lock.withLock {
      switch event {
      case .engine(let event):
        for piece in readers[index].read(event) { answers[index].add(piece) }
        guard case .finished = event else { return nil }
      case .failed(let error): answers[index].failure = error
      }
      open -= 1
      return open == 0 ? answers : nil
    }
    if let finished { done(finished) }
  }
}
