// RowOwner: runs a request's logit processor on a thread of its own, and answers the engine.
internal import CxxCore
internal import Foundation

/// Takes the rows of one request from the engine's thread, which must not wait for the client's code.
final class RowOwner: @unchecked Sendable {
  private let processor: LogitProcessor
  private let core: EngineHandle
  private let queue = DispatchQueue(label: "pagoda.logits")
  private let lock = NSLock()
  private var error: (any Error)?  // guarded by `lock`

  init(_ processor: LogitProcessor, _ core: EngineHandle) {
    self.processor = processor
    self.core = core
  }

  /// Why the request was cancelled here; nil if it was not.
  var failure: (any Error)? { lock.withLock { error } }

  /// Copies the row and returns.
  func take(_ row: borrowing pagoda.LogitRow) {
    let (id, index, promptCount) = (row.request_id, row.token_index, Int(row.num_prompt_tokens))
    let logits = Array(UnsafeBufferPointer(start: row.logits, count: Int(row.num_logits)))
    let tokens = Array(UnsafeBufferPointer(start: row.tokens, count: Int(row.num_tokens)))
    queue.async { [self] in
      do {
        var own = LogitRow(logits: logits, tokens: tokens, promptTokenCount: promptCount)
        try processor.process(&own)
        try answer(own, id, index)
      } catch {
        lock.withLock { self.error = error }
        core.engine.cancel(id)
      }
    }
  }

  private func answer(_ row: LogitRow, _ id: UInt64, _ index: Int32) throws {
    if let chosen = row.chosenToken, chosen < 0 {
      throw PagodaError.invalidArgument("token \(chosen) was chosen; ids are not negative")
    }
    let status = try row.logits.withUnsafeBufferPointer { values in
      guard let address = values.baseAddress else {
        throw PagodaError.invalidArgument("the logits were removed from the row")
      }
      return core.engine.answer_row(id, index, address, Int32(clamping: values.count), row.chosenToken ?? -1)
    }
    if status.code == .shut_down { return }  // the request has ended already, or is about to
    try status.throwIfError()
  }
}
