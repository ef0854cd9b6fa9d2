// Requests: submission, the callback from the engine's thread, and streams on top of it.
internal import CxxCore
internal import Foundation

extension Engine {
  /// Queues a request and streams its answer.
  ///
  /// Requests enter the queue in the order of these calls. Dropping the stream, or cancelling the task that reads it,
  /// cancels the request and frees its memory within a step.
  ///
  /// The stream ends with ``Event/finished(_:)``, exactly once, or throws: `CancellationError` if the reading task was
  /// cancelled, otherwise a ``PagodaError``.
  public func submit(_ request: Request) -> AnswerStream<Event> { stream(request, nil) }

  func stream(_ request: Request, _ tokenizer: (any ChatTokenizer)?) -> AnswerStream<Event> {
    AnswerStream { continuation in
      do {
        let cancel = try namingProperties {
          try start(
            request, tokenizer: tokenizer, failsWhenCancelled: true, deliver: { continuation.yield($0) },
            end: { continuation.finish(throwing: $0) })
        }
        continuation.onCancel(cancel)
      } catch {
        continuation.finish(throwing: error)
      }
    }
  }

  /// Queues a request; its events arrive on the engine's thread, then `end` is called once. Returns the cancellation.
  /// `other` replaces the model's own tokenizer and chat template. A cancelled request, also one that the engine's end
  /// cancelled, ends with `finished`, or if `failsWhenCancelled`, with ``PagodaError/shutDown(_:)``.
  package func start(
    _ request: Request, tokenizer other: (any ChatTokenizer)? = nil, failsWhenCancelled: Bool = false,
    deliver: @escaping @Sendable (Event) -> Void, end: @escaping @Sendable (PagodaError?) -> Void
  ) throws -> @Sendable () -> Void {
    let tools = try request.tools.map { try $0.json() }
    try request.refuseToolsWithoutConversation()
    let trimmed =
      try other.map { TrimmedPrompt(encoded: try encode(request, with: $0)) } ?? encode(request, tools: tools)
    let prompt = trimmed.encoded
    var coreRequest = pagoda.Request()
    coreRequest.prompt_ids = .init(prompt.ids)
    coreRequest.sampling = try request.sampling.core(defaults: defaults, tokenizer: tokenizer)
    if request.contextPolicy == .trim, let limit = request.sampling.maximumTokens {
      // The prompt was cut as far as it can be: a limit beyond the context would refuse the request.
      coreRequest.sampling.max_tokens = Int32(
        clamping: max(1, min(limit, info.plan.maximumModelLength - prompt.ids.count)))
    }
    if let seconds = request.promptProgressInterval {
      coreRequest.progress_interval_ms = Int32(max(0, min(seconds * 1000, 3_600_000)))
    }
    let calls = try request.callGrammar ?? request.requiredCalls(of: tools, prompt: prompt.text)
    if let grammar = request.grammarSpec(calls: calls) { coreRequest.grammar = grammar }
    coreRequest.prompt_has_thinking_tags = prompt.hasThinkingTags && request.hasThinkingTags
    coreRequest.use_cache = request.usesPrefixCache
    coreRequest.priority = Int32(clamping: request.priority)
    coreRequest.share_id = std.string(request.shareID ?? "")
    coreRequest.speculate = request.speculates
    coreRequest.cache_salt = std.string(request.cacheSalt ?? "")
    coreRequest.num_prompt_logprobs = Int32(clamping: request.promptLogProbabilities ?? -1)
    coreRequest.answer_ids = .init(request.answerTokens)
    coreRequest.prediction_ids = .init(request.predictionTokens)
    coreRequest.checkpoint_positions = .init(request.checkpointPositions.map { Int32(clamping: $0) })

    let parser = try OutputParser(prompt.opening, tools: tools.isEmpty ? "" : JSONValue.array(tools).text)
    let box = RequestBox(parser: parser, decoder: other.map { AnswerDecoder($0) }, deliver: deliver, end: end)
    box.failsWhenCancelled = failsWhenCancelled
    if request.promptLogProbabilities != nil { box.promptTokens = prompt.ids.prefix(1).map { TokenInfo(id: $0) } }
    if let take = receipts.take, request.answerTokens.isEmpty {
      if !coreRequest.sampling.has_seed {
        coreRequest.sampling.has_seed = true
        coreRequest.sampling.seed = UInt64.random(in: .min ... .max)
      }
      box.receipt = Receipt(coreRequest)
      box.take = take
    }
    if trimmed.omittedMessages > 0 { deliver(.contextTrimmed(omittedMessages: trimmed.omittedMessages)) }
    let retained = Unmanaged.passRetained(box)
    let result = core.engine.submit(coreRequest, receiveEvent, retained.toOpaque())
    if let error = PagodaError(result.status) {
      retained.release()
      throw error
    }
    let id = result.request_id
    return { [core] in core.engine.cancel(id) }
  }
}

/// The Swift side of a running request; alive from submission to the finished event.
/// Only the engine's thread touches the parser.
private final class RequestBox: @unchecked Sendable {
  private let parser: OutputParser
  private var decoder: AnswerDecoder?  // for a tokenizer other than the model's own
  private var decodingFailure: PagodaError?
  private var call: ToolCall?  // the call whose arguments are arriving
  var receipt: Receipt?  // of the current answer, if receipts are kept
  var take: (@Sendable (Receipt) -> Void)?
  var promptTokens: [TokenInfo] = []  // of a prompt whose log probabilities are requested
  var failsWhenCancelled = false
  private let deliver: @Sendable (Event) -> Void
  private let end: @Sendable (PagodaError?) -> Void

  init(
    parser: OutputParser, decoder: AnswerDecoder?, deliver: @escaping @Sendable (Event) -> Void,
    end: @escaping @Sendable (PagodaError?) -> Void
  ) {
    self.parser = parser
    self.decoder = decoder
    self.deliver = deliver
    self.end = end
  }

  func receive(_ event: borrowing pagoda.Event) {
    if event.kind == .prompt_token { return promptTokens.append(TokenInfo(event)) }
    if event.kind == .prompt_progress { return deliver(.promptProgress(PromptProgress(event))) }
    if event.kind == .token { receipt?.answer.append(event.token_id) }
    if event.kind == .token { deliver(.token(TokenInfo(event))) }
    deliver(parser.push(text(of: event)))
    guard event.kind == .finished else { return }
    let (isStop, isCancelled) = (event.finish_reason == .stop, event.finish_reason == .cancelled)
    let stopString = String(event.stop_string)
    deliver(parser.finish(wasCut: !(isStop && stopString.isEmpty)))
    if let error = PagodaError(event.status), event.finish_reason == .error { return end(error) }
    if let decodingFailure { return end(decodingFailure) }
    if let receipt, !receipt.answer.isEmpty { take?(receipt) }
    if failsWhenCancelled && isCancelled { return end(.shutDownWhileRunning) }
    var completion = Completion(event)
    completion.promptTokens = promptTokens
    deliver(.finished(completion))
    end(nil)
  }

  private func text(of event: borrowing pagoda.Event) -> String {
    if decoder == nil { return String(event.text) }
    let (isToken, isEnd, id) = (event.kind == .token, event.kind == .finished, event.token_id)
    do {
      return try isToken ? decoder?.push(id) ?? "" : isEnd ? decoder?.finish() ?? "" : ""
    } catch {
      decodingFailure =
        decodingFailure ?? error as? PagodaError ?? .internal("the tokenizer failed: \(error.localizedDescription)")
      return ""
    }
  }

  private func deliver(_ segments: [OutputSegment]) {
    for segment in segments {
      switch segment {
      case .text(let text): deliver(.text(text))
      case .reasoning(let text): deliver(.reasoning(text))
      case .toolCallBegin(_, let name): call = ToolCall(id: "call_\(UUID().uuidString)", name: name, arguments: "")
      case .toolArguments(_, let fragment): call?.arguments += fragment
      case .toolCallEnd:
        if let whole = call { deliver(.toolCall(whole)) }
        call = nil
      case .rejectedToolCall(let rejected):
        if rejected.index != nil { call = nil }
        deliver(.rejectedToolCall(rejected))
      }
    }
  }
}

/// Called by the core on its own thread, so it must not belong to an actor.
private func receiveEvent(_ context: UnsafeMutableRawPointer?, _ event: UnsafePointer<pagoda.Event>) {
  guard let context else { return }
  let box = Unmanaged<RequestBox>.fromOpaque(context)
  box.takeUnretainedValue().receive(event.pointee)
  if event.pointee.kind == .finished { box.release() }
}
