// RequestBox: the Swift side of a running request, which receives its events on the engine's thread.
internal import CxxCore
internal import Foundation

/// The Swift side of a running request; alive from submission to the finished event.
/// Only the engine's thread touches the parser.
final class RequestBox: @unchecked Sendable {
  private let parser: OutputParser
  private var decoder: AnswerDecoder?  // for a tokenizer other than the model's own
  private var decodingFailure: PagodaError?
  private var call: ToolCall?  // the call whose arguments are arriving
  var receipt: Receipt?  // of the current answer, if receipts are kept
  var take: (@Sendable (Receipt) -> Void)?
  var promptTokens: [TokenInfo] = []  // of a prompt whose log probabilities are requested
  var failsWhenCancelled = false
  var imageTokens = 0  // of the prompt
  var owner: RowOwner?  // of a request with a logit processor
  private let deliver: @Sendable (Event) -> Void
  private let end: @Sendable ((any Error)?) -> Void

  init(
    parser: OutputParser, decoder: AnswerDecoder?, deliver: @escaping @Sendable (Event) -> Void,
    end: @escaping @Sendable ((any Error)?) -> Void
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
    if isCancelled, let failure = owner?.failure { return end(failure) }
    if let receipt, !receipt.answer.isEmpty { take?(receipt) }
    if failsWhenCancelled && isCancelled { return end(PagodaError.shutDownWhileRunning) }
    var completion = Completion(event)
    completion.promptTokens = promptTokens
    completion.usage.imageTokens = imageTokens
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
