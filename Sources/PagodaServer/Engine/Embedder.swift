// Embedder: the texts of one request as vectors, all concurrently on the engine.
import Foundation
import PagodaKit

/// Computes the vectors of one request and answers when all are ready.
final class Embedder: @unchecked Sendable {
  struct Input: Sendable {
    var tokens: [Int32]
    var field: String  // the field it came from, for messages
  }

  private let service: Service
  private let exchange: Exchange
  private let lock = NSLock()
  // Guarded by `lock`.
  private var vectors: [Embedding?]
  private var failure: (any Error)?
  private var open: Int
  private var cancels: [@Sendable () -> Void] = []
  private var isCancelled = false
  private let answer: @Sendable ([Embedding]) throws -> HTTPResponse

  /// Runs on a worker. Throws errors that are detected before anything is computed.
  static func run(
    _ inputs: [Input], pooling: Pooling, on exchange: Exchange, of service: Service, shape: APIError.Shape,
    answer: @escaping @Sendable ([Embedding]) throws -> HTTPResponse
  ) throws {
    let limit = service.engine.info.plan.maximumModelLength
    for input in inputs where input.tokens.count >= limit || input.tokens.isEmpty {
      throw APIError.invalid(
        input.tokens.isEmpty
          ? "\(input.field) is empty"
          : "This model's maximum context length is \(limit) tokens. However, \(input.field) resulted in "
            + "\(input.tokens.count) tokens. Please reduce its length.",
        param: input.field, code: input.tokens.isEmpty ? nil : "context_length_exceeded")
    }
    try service.admission.enter(inputs.count)
    exchange.record.begin(model: service.models.names[0])
    let embedder = Embedder(inputs.count, exchange, service, shape, answer)
    exchange.onGone { embedder.cancel() }
    embedder.start(inputs, pooling)
  }

  private let shape: APIError.Shape

  private init(
    _ count: Int, _ exchange: Exchange, _ service: Service, _ shape: APIError.Shape,
    _ answer: @escaping @Sendable ([Embedding]) throws -> HTTPResponse
  ) {
    self.service = service
    self.exchange = exchange
    self.shape = shape
    self.answer = answer
    vectors = Array(repeating: nil, count: count)
    open = count
  }

  private func start(_ inputs: [Input], _ pooling: Pooling) {
    let salt = service.guarding.cacheSalt(of: exchange.head, "")
    let share = service.guarding.shareID(of: exchange.head)
    for (index, input) in inputs.enumerated() {
      do {
        let cancel = try service.engine.startEmbedding(
          of: input.tokens, pooling: pooling, cacheSalt: salt, shareID: share
        ) { self.take($0, index) }
        let isLate = lock.withLock {
          cancels.append(cancel)
          return isCancelled
        }
        if isLate { cancel() }
      } catch {
        take(.failure(error), index)
      }
    }
  }

  private func take(_ result: Result<(Embedding, Completion), any Error>, _ index: Int) {
    service.admission.leave()
    let isLast = lock.withLock {
      switch result {
      case .success(let (embedding, completion)):
        vectors[index] = embedding
        exchange.record.note(.finished(completion, reasoningTokens: 0))
      case .failure(let error):
        failure = failure ?? error
        exchange.record.fail()
      }
      open -= 1
      return open == 0
    }
    if isLast { service.dispatch { self.reply() } }
  }

  private func reply() {
    let (vectors, failure) = lock.withLock { (self.vectors.compactMap { $0 }, self.failure) }
    do {
      if let failure { throw failure }
      exchange.reply(.whole(try answer(vectors)))
    } catch {
      exchange.reply(.whole(APIError(any: error).response(shape)))
    }
  }

  private func cancel() {
    let all = lock.withLock {
      isCancelled = true
      return cancels
    }
    for cancel in all { cancel() }
  }
}
