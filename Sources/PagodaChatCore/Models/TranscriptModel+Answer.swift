// Sending, stopping, editing, regenerating and branching; answers are updated in place and saved while they stream.
import Foundation
import PagodaKit

extension TranscriptModel {
  /// Sends a message and starts answering it.
  public func send(_ text: String, attachments: [Attachment] = []) {
    guard !isAnswering, !text.isEmpty || attachments.contains(where: { $0.image != nil }) else { return }
    say(text, attachments, after: messages.last?.id)
  }

  /// Replaces an earlier message and answers it; the original stays as an alternative.
  public func edit(_ id: UUID, to text: String, attachments: [Attachment] = []) {
    guard !isAnswering, let message = messages.first(where: { $0.id == id }), message.role == .user else { return }
    say(text, attachments, after: message.parentID)
  }

  /// Generates another answer; the earlier one stays as an alternative. Nil means the last answer.
  public func regenerate(_ id: UUID? = nil) {
    let target = id ?? messages.last?.id
    guard !isAnswering, let message = messages.first(where: { $0.id == target }) else { return }
    answer(after: message.role == .assistant ? message.parentID : message.id)
  }

  /// Whether the last answer ended early and can be continued.
  public var canContinue: Bool {
    guard !isAnswering, let last = messages.last, last.role == .assistant, !last.text.isEmpty else { return false }
    return last.state == .cutOff || last.state == .stopped
  }

  /// Continues the last answer where it ended: at a token limit, or where the user stopped it.
  public func continueAnswer() {
    guard canContinue, let last = messages.last else { return }
    answer(after: last.parentID, continuing: last)
  }

  /// Continues an answer that stopped because the app left the screen; begins again if it had no text yet.
  func resumeStopped() {
    guard !isAnswering, let last = messages.last, last.role == .assistant, last.state == .stopped else { return }
    if last.text.isEmpty { regenerate() } else { continueAnswer() }
  }

  /// A new conversation with a copy of the messages up to this one.
  public func branch(at id: UUID) -> Conversation? {
    guard let end = messages.firstIndex(where: { $0.id == id }) else { return nil }
    var copy = Conversation(title: conversation.title, settings: conversation.settings)
    var copies: [ChatMessage] = []
    for message in messages[...end] {
      var twin = message
      twin.id = UUID()
      twin.conversationID = copy.id
      twin.parentID = copies.last?.id
      if twin.state == .streaming { twin.state = .stopped }
      copies.append(twin)
    }
    copy.leafID = copies.last?.id
    do {
      try store.save(copy, copies)
      return copy
    } catch {
      failure = ChatFailure("The chat cannot be branched", error)
      return nil
    }
  }

  /// Ends the answer in progress; the text so far is kept.
  public func stop() { answering?.cancel() }

  private func say(_ text: String, _ attachments: [Attachment], after parent: UUID?) {
    var message = ChatMessage(conversationID: id, parentID: parent, role: .user, text: text)
    if !attachments.isEmpty { message.attachments = attachments }
    if conversation.title.isEmpty {
      wantsTitle = true
      conversation.title = Self.title(for: text.isEmpty ? attachments.first?.name ?? "" : text)
    }
    conversation.leafID = message.id
    conversation.updatedAt = message.createdAt
    failure = nil
    follower.follow()
    attempt("The chat cannot be saved") { try store.save(conversation, [message]) }
    let kept = messages.firstIndex { $0.id == parent }.map { messages[...$0] } ?? []
    messages = kept + [message]
    answer(after: message.id)
  }

  /// The first line, shortened to the width of a sidebar.
  static func title(for text: String) -> String {
    let line = text.split(whereSeparator: \.isNewline).first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
    return line.count > 60 ? line.prefix(59).trimmingCharacters(in: .whitespaces) + "…" : line
  }

  /// Answers the message `parent`, or continues the answer `begun`.
  private func answer(after parent: UUID?, continuing begun: ChatMessage? = nil) {
    failure = nil
    guard engines.canAnswer || conversation.modelName != nil else {
      if case .failed(let reason) = engines.state { failure = reason } else { failure = EngineModel.noModel }
      return
    }
    var question = messages
    if let end = messages.firstIndex(where: { $0.id == parent }) { question = Array(messages[...end]) }
    let settings = conversation.settings
    let system = settings.instructions.isEmpty ? [] : [Message.system(settings.instructions)]
    var request = Request(
      messages: system + question.flatMap(\.promptMessages), sampling: settings.sampling, thinking: settings.thinking)
    request.contextPolicy = settings.contextPolicy ?? .trim
    request.promptProgressInterval = 0.25
    request.answerStart = begun?.text
    request.tools = begun == nil ? tools?.definitions ?? [] : []
    (pendingCalls, roundStart) = ([], 0)
    omittedMessages = 0
    var message =
      begun
      ?? ChatMessage(
        conversationID: id, parentID: parent, role: .assistant, text: "", modelName: engines.modelName)
    message.state = .streaming
    messages = question + [message]
    conversation.leafID = message.id
    attempt("The chat cannot be saved") { try store.save(conversation, [message]) }
    stats = TokenStats()
    firstTokenAt = nil
    savedLength = 0
    markdown.begin(message.id)
    if !message.text.isEmpty { markdown.append(message.text) }
    let isOther = conversation.modelName != nil && conversation.modelName != engines.modelName
    if let engine = engines.engine, !isOther {
      let events = engine.submit(request)  // synchronously: answers are generated in call order
      answering = Task { await read(events, of: request, into: message.id) }
    } else {
      isWaitingForModel = true
      answering = Task { await waitAndRead(request, into: message.id) }
    }
  }

  /// Waits for the model that is being loaded, or loads the last one again, then answers.
  private func waitAndRead(_ request: Request, into id: UUID) async {
    do {
      let engine = try await engines.ready(for: conversation.modelName)
      isWaitingForModel = false
      update(id) { $0.modelName = engines.modelName }
      await read(engine.submit(request), of: request, into: id)
    } catch {
      isWaitingForModel = false
      end(id, with: error is CancellationError ? nil : error)
    }
  }

  /// Reads an answer; if it calls tools, runs them and reads the answer to their results.
  private func read(_ first: AnswerStream<Event>, of asked: Request, into id: UUID) async {
    var (events, request) = (first, asked)
    do {
      while true {
        for try await event in events {
          take(event, into: id)
          keepNowAndThen(id)
        }
        guard let next = try await runTools(after: request, into: id) else { break }
        request = next
        events = try await engines.ready(for: conversation.modelName).submit(request)
      }
      end(id, with: nil)
    } catch {
      end(id, with: error is CancellationError ? nil : error)
    }
    engines.refresh()
  }

  /// Runs the calls of the answer in progress. Returns the request that continues it; nil if there is nothing to run.
  private func runTools(after request: Request, into id: UUID) async throws -> Request? {
    let calls = pendingCalls
    pendingCalls = []
    guard !calls.isEmpty, let tools, case .messages(let asked) = request.prompt,
      let message = messages.last(where: { $0.id == id }), (message.toolRounds?.count ?? 0) < Self.mostRounds
    else { return nil }
    update(id) { $0.state = .streaming }
    var runs: [ToolRun] = []
    for call in calls {
      runs.append(ToolRun(call: call, result: await tools.run(call)))
      try Task.checkCancellation()
    }
    let text = String(message.text.dropFirst(roundStart))
    let round = ToolRound(textLength: text.count, runs: runs)
    roundStart += text.count
    update(id) { $0.toolRounds = ($0.toolRounds ?? []) + [round] }
    var next = request
    next.prompt = .messages(asked + round.messages(text: text))
    return next
  }

  /// Of calls in one answer: a model may call in circles.
  static let mostRounds = 8

  /// Changes a message in place: copying a long answer for each token would cost more than the answer.
  private func update(_ id: UUID, _ body: (inout ChatMessage) -> Void) {
    if let index = messages.lastIndex(where: { $0.id == id }) { body(&messages[index]) }
  }

  /// Ends an answer, with or without a reason.
  private func end(_ id: UUID, with error: (any Error)?) {
    if let error {
      let failure = error as? ChatFailure ?? ChatFailure("The answer failed", error)
      update(id) { $0.state = .failed(failure.cause) }
      self.failure = failure
    }
    update(id) {
      if $0.state == .streaming { $0.state = .stopped }
      $0.stats = stats
    }
    answering = nil
    promptProgress = nil
    markdown.end()
    if let message = messages.last(where: { $0.id == id }) { keep(message) }
    conversation.updatedAt = Date()
    keepConversation()
    if error == nil { writeTitle() }
  }

  func take(_ event: Event, into id: UUID) {
    switch event {
    case .text(let chunk):
      update(id) { $0.text += chunk }
      markdown.append(chunk)
    case .reasoning(let chunk): update(id) { $0.reasoning += chunk }
    case .toolCall(let call): pendingCalls.append(call)
    case .rejectedToolCall, .toolFailed: break
    case .token:
      promptProgress = nil
      countToken()
    case .promptProgress(let progress): promptProgress = progress
    case .contextTrimmed(let count): omittedMessages = count
    case .finished(let completion):
      stats = TokenStats(completion)
      update(id) {
        $0.state =
          switch completion.finishReason {
          case .stop: .complete
          case .length: .cutOff
          case .cancelled: .stopped
          }
      }
    }
  }

  private func countToken() {
    let now = ContinuousClock.now
    let first = firstTokenAt ?? now
    firstTokenAt = first
    stats.completionTokens += 1
    stats.generationSeconds = (now - first) / .seconds(1)
    if stats.completionTokens % 32 == 1 { engines.refresh() }
  }

  /// A crash loses at most two seconds of an answer, or a sixteenth of a long one, so that the cost of all saves
  /// together is proportional to its length.
  private func keepNowAndThen(_ id: UUID) {
    let now = ContinuousClock.now
    guard now - savedAt > savingInterval, let message = messages.last(where: { $0.id == id }) else { return }
    let length = message.text.utf8.count + message.reasoning.utf8.count
    if length - savedLength < max(1, savedLength / 16) { return }
    (savedAt, savedLength) = (now, length)
    attempt("The chat cannot be saved") { try store.save(message) }
  }
}
