// LanguageEngine: the interface of an engine, so that programs can be tested without a model.

/// What answers requests: an ``Engine``, or in a test the `ScriptedEngine` of the product PagodaTesting.
///
/// ```swift
/// func summary(of text: String, by engine: some LanguageEngine) async throws -> String {
///   try await engine.respond(to: "Summarise in one sentence: \(text)").text
/// }
/// ```
public protocol LanguageEngine: Sendable {
  /// The model's properties and its memory plan.
  var info: ModelInfo { get }
  /// The model's tokenizer, if there is one.
  var tokenizer: Tokenizer? { get }
  /// The current counters and gauges.
  var statistics: EngineStatistics { get }
  /// Queues a request and streams its answer. The stream ends with ``Event/finished(_:)`` or throws.
  func submit(_ request: Request) -> AnswerStream<Event>
  /// The number of tokens of a request's prompt as the model would read it.
  func tokenCount(of request: Request) throws -> Int
  /// Fails what is running and frees the memory.
  func shutDown() async
}

extension LanguageEngine {
  /// Queues a request and waits for its whole answer.
  public func respond(to request: Request) async throws -> Response {
    var collector = ResponseCollector()
    for try await event in submit(request) { collector.take(event) }
    return try collector.response()
  }

  /// Answers a question or a conversation, and waits for the whole answer.
  public func respond(
    to input: some ChatInput, sampling: SamplingParameters = SamplingParameters(), thinking: Bool? = nil
  ) async throws -> Response {
    try await respond(to: Request(messages: input.messages, sampling: sampling, thinking: thinking))
  }

  /// Starts a request; the events arrive on any thread, then `end` is called once. Returns the cancellation.
  func begin(
    _ request: Request, deliver: @escaping @Sendable (Event) -> Void, end: @escaping @Sendable ((any Error)?) -> Void
  ) throws -> @Sendable () -> Void {
    if let engine = self as? Engine { return try engine.answer(request, with: nil, deliver: deliver, end: end) }
    let events = submit(request)
    let task = Task {
      do {
        for try await event in events { deliver(event) }
        end(nil)
      } catch {
        end(error)
      }
    }
    return { task.cancel() }
  }
}

extension Engine: LanguageEngine {}
