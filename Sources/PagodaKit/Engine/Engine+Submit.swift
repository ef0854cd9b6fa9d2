// Requests: submission, the callback from the engine's thread, and streams on top of it.
internal import CxxCore

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
        continuation.onCancel(
          try answer(
            request, with: tokenizer, deliver: { continuation.yield($0) }, end: { continuation.finish(throwing: $0) }))
      } catch {
        continuation.finish(throwing: error)
      }
    }
  }

  /// Queues a request; its events arrive on the engine's thread, then `end` is called once. A request that the engine's
  /// end cancelled fails with ``PagodaError/shutDown(_:)``. Returns the cancellation.
  func answer(
    _ request: Request, with tokenizer: (any ChatTokenizer)?, deliver: @escaping @Sendable (Event) -> Void,
    end: @escaping @Sendable ((any Error)?) -> Void
  ) throws -> @Sendable () -> Void {
    let maker = EventMaker()
    return try namingProperties {
      try run(
        request, tokenizer: tokenizer, failsWhenCancelled: true,
        deliver: { if let event = maker.event(of: $0) { deliver(event) } }, end: end)
    }
  }

  /// Queues a request without a logit processor; its segments arrive on the engine's thread, then `end` is called once.
  /// A cancelled request, also one that the engine's end cancelled, ends with `finished`. Returns the cancellation.
  /// Throws ``RefusedField`` for a field that the core refuses.
  package func start(
    _ request: Request, deliver: @escaping @Sendable (AnswerSegment) -> Void,
    end: @escaping @Sendable (PagodaError?) -> Void
  ) throws -> @Sendable () -> Void {
    var request = request
    request.logitProcessor = nil
    return try run(request, deliver: deliver, end: { end($0 as? PagodaError) })
  }

  /// Like `start`, with the request's logit processor, whose own errors reach `end`. `other` replaces the model's own
  /// tokenizer and chat template. If `failsWhenCancelled`, a cancelled request ends with ``PagodaError/shutDown(_:)``.
  private func run(
    _ request: Request, tokenizer other: (any ChatTokenizer)? = nil, failsWhenCancelled: Bool = false,
    deliver: @escaping @Sendable (AnswerSegment) -> Void, end: @escaping @Sendable ((any Error)?) -> Void
  ) throws -> @Sendable () -> Void {
    let tools = try request.tools.map { try $0.json() }
    try request.refuseToolsWithoutConversation()
    let trimmed =
      try other.map { TrimmedPrompt(encoded: try encode(request, with: $0)) } ?? encode(request, tools: tools)
    let prompt = try begun(trimmed.encoded, request, other)
    var coreRequest = pagoda.Request()
    coreRequest.prompt_ids = .init(prompt.ids)
    let images = prompt.images + request.placedImages
    try prepare(images, for: &coreRequest)
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
    coreRequest.lora = std.string(request.lora ?? "")
    coreRequest.num_prompt_logprobs = Int32(clamping: request.promptLogProbabilities ?? -1)
    coreRequest.answer_ids = .init(request.answerTokens)
    coreRequest.prediction_ids = .init(request.predictionTokens)
    coreRequest.checkpoint_positions = .init(request.checkpointPositions.map { Int32(clamping: $0) })

    let form = request.answerForm ?? AnswerForm(opening: prompt.opening, tools: tools)
    let reader = try AnswerReader(form, thinkingTokens)
    let box = RequestBox(reader: reader, decoder: other.map { AnswerDecoder($0) }, deliver: deliver, end: end)
    box.failsWhenCancelled = failsWhenCancelled
    box.imageTokens = images.reduce(0) { $0 + $1.tokenCount }
    if request.promptLogProbabilities != nil { box.promptTokens = prompt.ids.prefix(1).map { TokenInfo(id: $0) } }
    if let processor = request.logitProcessor {
      box.owner = RowOwner(processor, core)
      coreRequest.row_callback = receiveRow
    }
    // A receipt has no images and no adapter, so an answer with them could not be verified with it.
    if let take = receipts.take, request.answerTokens.isEmpty, box.owner == nil, images.isEmpty, request.lora == nil {
      if !coreRequest.sampling.has_seed {
        coreRequest.sampling.has_seed = true
        coreRequest.sampling.seed = UInt64.random(in: .min ... .max)
      }
      box.receipt = Receipt(coreRequest)
      box.take = take
    }
    if trimmed.omittedMessages > 0 { deliver(.trimmed(omittedMessages: trimmed.omittedMessages)) }
    let retained = Unmanaged.passRetained(box)
    let result = core.engine.submit(coreRequest, receiveEvent, retained.toOpaque())
    if let error = result.status.error {
      retained.release()
      throw error
    }
    let id = result.request_id
    return { [core] in core.engine.cancel(id) }
  }

  /// The prompt with the beginning of the answer.
  private func begun(
    _ prompt: EncodedPrompt, _ request: Request, _ other: (any ChatTokenizer)?
  ) throws -> EncodedPrompt {
    guard let start = request.answerStart else { return prompt }
    guard case .messages = request.prompt else {
      throw PagodaError.invalidArgument("answerStart is for conversations: a text or tokens can end with it themselves")
    }
    guard request.grammar == nil, request.toolChoice == .automatic else {
      throw PagodaError.invalidArgument("answerStart cannot be combined with a grammar or a required tool call")
    }
    var begun = prompt
    if prompt.opening == .reasoning { begun.ids += try encode(answerText: "\n</think>\n\n", isControl: true, other) }
    begun.ids += try encode(answerText: start, isControl: false, other)
    begun.opening = .textOnly
    return begun
  }

  private func encode(answerText: String, isControl: Bool, _ other: (any ChatTokenizer)?) throws -> [Int32] {
    if let other { return try other.encodeWithControlTokens(answerText) }
    guard let tokenizer else { throw PagodaError.unsupported("the model has no tokenizer") }
    return try tokenizer.encode(answerText, parsingSpecialTokens: isControl)
  }
}
