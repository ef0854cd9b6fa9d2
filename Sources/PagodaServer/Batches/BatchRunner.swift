// BatchRunner: runs the lines of batches beside the requests of clients that wait: a bounded number at a time, the keys
// in turn, and with a lower priority.
import Foundation
import PagodaKit

final class BatchRunner: @unchecked Sendable {
  struct Limits: Sendable {
    var open = 100  // batches of one key that have not ended
    var kept = 1000  // batches of one key; those that ended first are forgotten
  }

  let files: FileStore
  private let limits: Limits
  private let maximumRunning: Int  // lines at a time
  let lock = NSLock()
  // Guarded by `lock`.
  private var batches: [Batch] = []  // the oldest first
  private var turns: [String] = []  // owners with batches that have not ended; the first is the next
  var running = 0
  private(set) var isStopped = false
  /// Starts a line: returns its exchange and the work, or throws the answer's error. Set before the first batch.
  var prepare: (@Sendable (HTTPRequest) throws -> (Exchange, @Sendable () -> Void))?
  /// How long the client's key must wait; nil counts a request and lets it pass.
  var wait: (@Sendable (HTTPRequest) -> Double?)?
  /// A line has been answered.
  var finished: (@Sendable (Exchange) -> Void)?
  var dispatch: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

  init(files: FileStore, maximumRunning: Int, limits: Limits = Limits()) {
    self.files = files
    self.maximumRunning = maximumRunning
    self.limits = limits
  }

  /// Copies with consistent values for `read`, which must be short.
  func read<Value>(_ id: String, owner: String, _ read: (Batch) -> Value) -> Value? {
    lock.withLock { batches.first { $0.id == id && $0.owner == owner }.map(read) }
  }

  func list<Value>(owner: String, _ read: (Batch) -> Value) -> [Value] {
    lock.withLock { batches.filter { $0.owner == owner }.map(read) }
  }

  func add(_ batch: Batch) throws {
    try lock.withLock {
      let own = batches.filter { $0.owner == batch.owner }
      if own.lazy.filter({ $0.endTime == nil }).count >= limits.open {
        throw APIError.overloaded("this key has \(limits.open) batches that have not ended; wait, or cancel some")
      }
      if own.count >= limits.kept, let oldest = own.first(where: { $0.endTime != nil }) { forget(oldest) }
      batches.append(batch)
      if !turns.contains(batch.owner) { turns.append(batch.owner) }
    }
    startNext(after: Double(batch.expires) - Date().timeIntervalSince1970)  // so that it ends
    startNext()
  }

  /// False if it does not exist; nil if it has not ended.
  func remove(_ id: String, owner: String) -> Bool? {
    lock.withLock {
      guard let batch = batches.first(where: { $0.id == id && $0.owner == owner }) else { return false }
      guard batch.endTime != nil else { return nil }
      forget(batch)
      return true
    }
  }

  /// Requires the lock. Files of OpenAI's batches are deleted by their clients.
  private func forget(_ batch: Batch) {
    batches.removeAll { $0 === batch }
    if batch.kind == .anthropic { batch.outputFile.map(files.remove) }
  }

  /// No line of the batch is started from now on, and those that run are cancelled.
  func end(_ batch: Batch, _ ending: Batch.Ending, failure: String? = nil) {
    let exchanges = lock.withLock { () -> [Exchange] in
      if batch.ending != nil { return [] }
      batch.ending = ending
      batch.stopTime = Int64(Date().timeIntervalSince1970)
      batch.failure = failure
      return Array(batch.running.values)
    }
    exchanges.forEach { $0.abandon() }
    settle(batch)
  }

  func find(_ id: String, owner: String) -> Batch? { read(id, owner: owner) { $0 } }

  /// The server ends: what has not been answered never is.
  func stop() {
    let exchanges = lock.withLock { () -> [Exchange] in
      isStopped = true
      return batches.flatMap(\.running.values)
    }
    exchanges.forEach { $0.abandon() }
  }

  // MARK: Lines

  private func startNext(after seconds: Double) {
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.startNext() }
  }

  func startNext() {
    let now = Int64(Date().timeIntervalSince1970)
    for batch in lock.withLock({ batches.filter { $0.ending == nil && $0.expires <= now } }) { end(batch, .expired) }
    while let (batch, line) = lock.withLock({ takeLine() }) {
      dispatch? { [self] in start(batch, line) }
    }
  }

  /// Requires the lock.
  private func takeLine() -> (Batch, Int)? {
    if isStopped || running >= maximumRunning { return nil }
    for _ in 0..<turns.count {
      let owner = turns.removeFirst()
      let own = batches.filter { $0.owner == owner && $0.endTime == nil }
      if own.isEmpty { continue }
      turns.append(owner)
      guard let batch = own.first(where: \.hasLines), let line = batch.takeLine() else { continue }
      running += 1
      return (batch, line)
    }
    return nil
  }

  private func start(_ batch: Batch, _ index: Int) {
    let (id, request): (String, HTTPRequest)
    do {
      (id, request) = try batch.request(index)
      let isNew = lock.withLock { batch.isFirst(index, with: id) }
      if !isNew { throw Batch.LineError(id: id, "the custom_id occurs more than once") }
    } catch {
      let error = error as? Batch.LineError ?? Batch.LineError(id: nil, "\(error)")
      return finish(batch, index, .refused(error))
    }
    if let seconds = wait?(request) { return giveBack(batch, index, after: seconds) }
    do {
      guard let (exchange, work) = try prepare?(request) else { return }
      exchange.attach { [weak self] in self?.answered(batch, index, id, exchange) }
      let isLate = lock.withLock {
        batch.reserved -= 1
        batch.running[index] = exchange
        return batch.ending != nil || isStopped
      }
      if isLate { exchange.abandon() } else { work() }
    } catch {
      let refusal = APIError(any: error)
      if refusal.status == 429 { return giveBack(batch, index, after: Double(refusal.retryAfter ?? 1)) }
      let response = refusal.response(batch.kind == .anthropic ? .anthropic : .openAI)
      finish(batch, index, .answered(id, response, requestID: randomID("req_")))
    }
  }

  private func giveBack(_ batch: Batch, _ index: Int, after seconds: Double) {
    lock.withLock {
      running -= 1
      if batch.running.removeValue(forKey: index) == nil { batch.reserved -= 1 }
      batch.returned.append(index)
    }
    settle(batch)
    startNext(after: min(max(seconds, 0.1), 60))
  }

  private func answered(_ batch: Batch, _ index: Int, _ id: String, _ exchange: Exchange) {
    switch exchange.next() {
    case .wait: return
    case .send(.whole(let response)):
      exchange.isWhole = true
      exchange.complete()
      finished?(exchange)
      let isBusy = response.status == 429 && lock.withLock { batch.ending == nil }
      if isBusy { return giveBack(batch, index, after: 1) }
      finish(batch, index, .answered(id, response, requestID: exchange.id))
    case .send(.stream), .drop:
      exchange.complete()
      finish(batch, index, .stopped(id))
    }
  }
}
