// BatchRunner+Results: writes the answers of a batch's lines to its files, and ends it after the last.
import Foundation
import PagodaKit

extension BatchRunner {
  enum Result {
    case answered(String, HTTPResponse, requestID: String)
    case refused(Batch.LineError)
    case stopped(String)  // the batch was cancelled or has expired
  }

  func finish(_ batch: Batch, _ index: Int, _ result: Result) {
    do {
      switch result {
      case .answered(let id, let response, let requestID):
        try write(batch.line(id, response, requestID: requestID), of: batch, isError: response.status != 200)
        lock.withLock { if response.status == 200 { batch.counts.succeeded += 1 } else { batch.counts.errored += 1 } }
      case .refused(let error):
        try write(batch.line(error.id, code: "invalid_line", error.message), of: batch, isError: true)
        lock.withLock { batch.counts.errored += 1 }
      case .stopped(let id):
        let isExpired = lock.withLock { batch.ending == .expired }
        let code = isExpired ? "batch_expired" : "batch_cancelled"
        try write(batch.line(id, code: code, "the batch ended before the line was answered"), of: batch, isError: true)
        lock.withLock { if isExpired { batch.counts.expired += 1 } else { batch.counts.cancelled += 1 } }
      }
    } catch {
      lock.withLock { batch.counts.errored += 1 }
      end(batch, .failed, failure: APIError(any: error).message)
    }
    lock.withLock {
      running -= 1
      if batch.running.removeValue(forKey: index) == nil { batch.reserved -= 1 }
    }
    settle(batch)
    startNext()
  }

  /// Adds a line to the results. OpenAI's batches have two files: one for answers, one for errors.
  private func write(_ text: String, of batch: Batch, isError: Bool) throws {
    let isSecond = isError && batch.kind != .anthropic
    let known = lock.withLock { isSecond ? batch.errorFile : batch.outputFile }
    let bytes = Array(text.utf8)
    if let known { return try files.append(bytes, to: known) }
    let name = "\(batch.id)_\(isSecond ? "error" : "output").jsonl"
    let file = try files.add(bytes, name: name, purpose: "batch_output", owner: batch.owner, isHidden: true)
    let other = lock.withLock { () -> String? in
      if let other = isSecond ? batch.errorFile : batch.outputFile { return other }
      if isSecond { batch.errorFile = file.id } else { batch.outputFile = file.id }
      return nil
    }
    guard let other else { return }
    files.remove(file.id)  // another line was first
    try files.append(bytes, to: other)
  }

  /// Ends a batch whose last line has been answered.
  func settle(_ batch: Batch) {
    let isOver = lock.withLock { () -> Bool in
      if isStopped || batch.hasLines || !batch.isIdle || batch.isClosing { return false }
      batch.ending = batch.ending ?? .completed
      batch.isClosing = true
      return true
    }
    if isOver { close(batch) }
  }

  private func close(_ batch: Batch) {
    let (left, ending) = lock.withLock { (batch.left, batch.ending) }
    if ending == .cancelled || ending == .expired {
      let code = ending == .expired ? "batch_expired" : "batch_cancelled"
      for index in left {
        let id = (try? batch.request(index))?.customID
        let text = batch.line(id, code: code, "the batch ended before the line was answered")
        guard (try? write(text, of: batch, isError: true)) != nil else { break }
      }
    }
    lock.withLock {
      switch ending {
      case .cancelled: batch.counts.cancelled += left.count
      case .expired: batch.counts.expired += left.count
      default: batch.counts.errored += left.count
      }
      if batch.kind != .anthropic { [batch.outputFile, batch.errorFile].compactMap { $0 }.forEach(files.show) }
      batch.endTime = Int64(Date().timeIntervalSince1970)
      batch.inputFile.map(files.remove)
      batch.freeInput()
    }
  }
}
