// RequestBox: the Swift side of a running request, which receives its events on the engine's thread.
internal import CxxCore

/// The Swift side of a running request; alive from submission to the finished event.
/// Only the engine's thread touches the reader.
final class RequestBox: @unchecked Sendable {
  private let reader: AnswerReader
  private var decoder: AnswerDecoder?  // for a tokenizer other than the model's own
  private var decodingFailure: PagodaError?
  var receipt: Receipt?  // of the current answer, if receipts are kept
  var take: (@Sendable (Receipt) -> Void)?
  var promptTokens: [TokenInfo] = []  // of a prompt whose log probabilities are requested
  var failsWhenCancelled = false
  var imageTokens = 0  // of the prompt
  var owner: RowOwner?  // of a request with a logit processor
  private let deliver: @Sendable (AnswerSegment) -> Void
  private let end: @Sendable ((any Error)?) -> Void

  init(
    reader: AnswerReader, decoder: AnswerDecoder?, deliver: @escaping @Sendable (AnswerSegment) -> Void,
    end: @escaping @Sendable ((any Error)?) -> Void
  ) {
    self.reader = reader
    self.decoder = decoder
    self.deliver = deliver
    self.end = end
  }

  func receive(_ event: borrowing pagoda.Event) {
    if event.kind == .prompt_token { return promptTokens.append(TokenInfo(event)) }
    if event.kind == .prompt_progress { return deliver(.progress(PromptProgress(event))) }
    if event.kind == .token { receipt?.answer.append(event.token_id) }
    if event.kind == .token { deliver(reader.read(TokenInfo(event))) }
    for segment in reader.read(text(of: event)) { deliver(segment) }
    guard event.kind == .finished else { return }
    let (isStop, isCancelled) = (event.finish_reason == .stop, event.finish_reason == .cancelled)
    let stopString = String(event.stop_string)
    for segment in reader.finish(wasCut: !(isStop && stopString.isEmpty)) { deliver(segment) }
    if let error = PagodaError(event.status), event.finish_reason == .error { return end(error) }
    if let decodingFailure { return end(decodingFailure) }
    if isCancelled, let failure = owner?.failure { return end(failure) }
    if let receipt, !receipt.answer.isEmpty { take?(receipt) }
    if failsWhenCancelled && isCancelled { return end(PagodaError.shutDownWhileRunning) }
    var completion = Completion(event)
    completion.promptTokens = promptTokens
    completion.usage.imageTokens = imageTokens
    deliver(.finished(completion, reasoningTokens: reader.reasoningTokens))
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
}

/// Called by the core on its own thread, so it must not belong to an actor.
func receiveEvent(_ context: UnsafeMutableRawPointer?, _ event: UnsafePointer<pagoda.Event>) {
  guard let context else { return }
  let box = Unmanaged<RequestBox>.fromOpaque(context)
  box.takeUnretainedValue().receive(event.pointee)
  if event.pointee.kind == .finished { box.release() }
}

/// Called by the core on its own thread. Copies the row: it is valid during the call only.
func receiveRow(_ context: UnsafeMutableRawPointer?, _ row: UnsafePointer<pagoda.LogitRow>) {
  guard let context else { return }
  Unmanaged<RequestBox>.fromOpaque(context).takeUnretainedValue().owner?.take(row.pointee)
}
