// ScriptedEngine: an engine without a model, for tests of programs that use PagodaKit.
import Foundation
public import PagodaKit

/// An engine that gives the answers of a script, in order, and records the requests. It loads nothing.
///
/// ```swift
/// let engine = ScriptedEngine("Paris.")
/// let session = ChatSession(engine)
/// #expect(try await session.respond(to: "What is the capital of France?").text == "Paris.")
/// #expect(engine.requests.count == 1)
/// ```
public final class ScriptedEngine: LanguageEngine, @unchecked Sendable {
  private let lock = NSLock()
  // Guarded by `lock`.
  private var answers: [ScriptedAnswer]
  private let answer: (@Sendable (Request) -> ScriptedAnswer)?
  private var asked: [Request] = []
  private var numCancelled = 0
  private var running: [AnswerStream<Event>.Continuation] = []  // answers without an end
  private var isShutDown = false

  /// The properties that ``info`` reports; `contextLength` and `plan.maximumModelLength` are 4096 unless changed.
  public let info: ModelInfo

  /// An engine that gives these answers, in order. A further request fails with ``PagodaError/resourceExhausted(_:)``.
  public convenience init(_ answers: ScriptedAnswer...) { self.init(answers) }

  /// An engine that gives these answers, in order.
  public init(_ answers: [ScriptedAnswer], info: ModelInfo = .scripted) {
    self.answers = answers
    self.info = info
    answer = nil
  }

  /// An engine whose answers depend on the request.
  public init(info: ModelInfo = .scripted, answering answer: @escaping @Sendable (Request) -> ScriptedAnswer) {
    answers = []
    self.info = info
    self.answer = answer
  }

  /// The requests so far, in order.
  public var requests: [Request] { lock.withLock { asked } }

  /// The number of answers that their readers left before the end.
  public var cancelledCount: Int { lock.withLock { numCancelled } }

  /// Nil: a scripted engine has no tokens.
  public var tokenizer: Tokenizer? { nil }

  /// All zero, except for the number of running answers.
  public var statistics: EngineStatistics {
    var statistics = EngineStatistics()
    statistics.running = lock.withLock { running.count - numCancelled }
    return statistics
  }

  /// The number of words of the messages, or of token ids.
  public func tokenCount(of request: Request) throws -> Int {
    switch request.prompt {
    case .tokens(let ids): ids.count
    case .text(let text): text.split(separator: " ").count
    case .messages(let messages): messages.reduce(0) { $0 + $1.content.split(separator: " ").count }
    }
  }

  /// Gives the next answer of the script.
  public func submit(_ request: Request) -> AnswerStream<Event> {
    AnswerStream { continuation in
      continuation.onCancel { [self] in lock.withLock { numCancelled += 1 } }
      let next = lock.withLock { () -> ScriptedAnswer in
        asked.append(request)
        if isShutDown { return .failure(PagodaError.shutDown("the engine was shut down")) }
        if let answer { return answer(request) }
        if answers.isEmpty {
          return .failure(PagodaError.resourceExhausted("the script has no answer for request \(asked.count)"))
        }
        return answers.removeFirst()
      }
      for event in next.events { continuation.yield(event) }
      switch next.end {
      case .failure(let error): continuation.finish(throwing: error)
      case .success(let reason):
        let usage = Usage(
          promptTokens: (try? tokenCount(of: request)) ?? 0, completionTokens: next.events.count, cachedTokens: 0)
        let timings = Timings(queueMilliseconds: 0, promptMilliseconds: 0, generationMilliseconds: 0)
        continuation.yield(.finished(Completion(finishReason: reason, usage: usage, timings: timings)))
        continuation.finish()
      case nil: lock.withLock { running.append(continuation) }
      }
    }
  }

  /// Fails answers without an end, and all later requests.
  public func shutDown() async {
    let ended = lock.withLock {
      defer { running = [] }
      isShutDown = true
      return running
    }
    for continuation in ended { continuation.finish(throwing: PagodaError.shutDown("the engine was shut down")) }
  }
}

extension ModelInfo {
  /// The properties of a scripted engine.
  public static var scripted: ModelInfo {
    var info = ModelInfo()
    info.architecture = "scripted"
    info.contextLength = 4096
    info.plan.maximumModelLength = 4096
    return info
  }
}
