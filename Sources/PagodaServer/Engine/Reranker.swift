// Reranker: asks a model trained for it (Qwen3-Reranker) whether each document matches a query: yes or no.
import Foundation
import PagodaKit

/// How `/v1/rerank` orders documents.
public enum Reranking: String, Sendable, CaseIterable {
  /// `yesNo` for models with `reranker` in their name, otherwise `cosine`.
  case automatic = "auto"
  /// Sorts documents by the cosine similarity of their vector and the query's.
  case cosine
  /// Sorts documents by the probability that the model answers "yes" rather than "no" when asked whether the document
  /// matches, as in Qwen3-Reranker.
  case yesNo = "yes-no"

  func isYesNo(modelNames names: [String]) -> Bool {
    self == .yesNo || self == .automatic && names.contains { $0.lowercased().contains("reranker") }
  }
}

/// The question in the words that Qwen3-Reranker was trained with.
struct YesNoPrompt {
  static let instruction = "Given a web search query, retrieve relevant passages that answer the query"
  private let opening: [Int32]
  private let closing: [Int32]
  let yes: Int32
  let no: Int32
  private let tokenizer: Tokenizer

  init(_ tokenizer: Tokenizer?) throws {
    guard let tokenizer else { throw PagodaError.unsupported("this model has no tokenizer, so it cannot rerank texts") }
    self.tokenizer = tokenizer
    opening = try tokenizer.encode(
      "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. "
        + "Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n",
      parsingSpecialTokens: true)
    closing = try tokenizer.encode(
      "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n", parsingSpecialTokens: true)
    guard let yes = try tokenizer.encode("yes").first, let no = try tokenizer.encode("no").first, yes != no else {
      throw PagodaError.unsupported("this model has no tokens for yes and no")
    }
    (self.yes, self.no) = (yes, no)
  }

  /// The client's text never becomes a control token.
  func tokens(_ instruction: String, _ query: String, _ document: String) throws -> [Int32] {
    let text = "<Instruct>: \(instruction)\n<Query>: \(query)\n<Document>: \(document)"
    return opening + (try tokenizer.encode(text, parsingSpecialTokens: false)) + closing
  }
}

/// Scores the documents of one request and answers when all have a score.
final class Reranker: @unchecked Sendable {
  /// A score: the probability of "yes" relative to "yes" and "no".
  struct Score: Sendable {
    var score = 0.0
    var promptTokens = 0
  }

  private let service: Service
  private let exchange: Exchange
  private let prompt: YesNoPrompt
  private let answer: @Sendable ([Score]) -> HTTPResponse
  private let lock = NSLock()
  // Guarded by `lock`.
  private var scores: [Score]
  private var failure: (any Error)?
  private var open: Int
  private var cancels: [@Sendable () -> Void] = []
  private var isCancelled = false

  /// Runs on a worker. Throws errors that are detected before anything is computed.
  static func run(
    _ prompt: YesNoPrompt, _ documents: [[Int32]], on exchange: Exchange, of service: Service,
    answer: @escaping @Sendable ([Score]) -> HTTPResponse
  ) throws {
    let limit = service.engine.info.plan.maximumModelLength
    for (index, tokens) in documents.enumerated() where tokens.count >= limit {
      throw APIError.invalid(
        "This model's maximum context length is \(limit) tokens. However, documents[\(index)] with the query resulted in "
          + "\(tokens.count) tokens. Please reduce its length.",
        param: "documents[\(index)]", code: "context_length_exceeded")
    }
    try service.admission.enter(documents.count)
    exchange.record.begin(model: service.models.names[0])
    let reranker = Reranker(prompt, documents.count, exchange, service, answer)
    exchange.onGone { reranker.cancel() }
    for (index, tokens) in documents.enumerated() { reranker.ask(tokens, index, yes: nil) }
  }

  private init(
    _ prompt: YesNoPrompt, _ count: Int, _ exchange: Exchange, _ service: Service,
    _ answer: @escaping @Sendable ([Score]) -> HTTPResponse
  ) {
    self.prompt = prompt
    self.service = service
    self.exchange = exchange
    self.answer = answer
    scores = Array(repeating: Score(), count: count)
    open = count
  }

  /// Forces the model to answer yes, which gives its probability; if no is not among its 20 likeliest tokens, then also
  /// no, for which the prompt is in the cache.
  private func ask(_ tokens: [Int32], _ index: Int, yes: Float?) {
    var request = Request(prompt: .tokens(tokens))
    request.sampling.maximumTokens = 1
    request.sampling.temperature = 0
    request.sampling.topLogProbabilities = 20
    request.sampling.logitBias = [yes == nil ? prompt.yes : prompt.no: 1e6]
    request.sampling.ignoresEndOfText = true
    request.speculates = false
    request.hasThinkingTags = false
    request.cacheSalt = service.guarding.cacheSalt(of: exchange.head, "")
    request.shareID = service.guarding.shareID(of: exchange.head)
    let reply = Reply()
    do {
      let cancel = try service.engine.start(request) { [exchange] segment in
        if case .token(let token, _) = segment { reply.token = token }
        if case .finished(let completion, _) = segment {
          reply.completion = completion
          if yes == nil { exchange.record.note(segment) }
        }
      } end: { error in
        self.take(reply, error, tokens, index, yes: yes)
      }
      let isLate = lock.withLock {
        cancels.append(cancel)
        return isCancelled
      }
      if isLate { cancel() }
    } catch {
      end(index, .failure(error))
    }
  }

  /// The result of one pass; owned by the engine's thread.
  private final class Reply: @unchecked Sendable {
    var token: TokenInfo?
    var completion: Completion?
  }

  private func take(_ reply: Reply, _ error: PagodaError?, _ tokens: [Int32], _ index: Int, yes: Float?) {
    if let error { return end(index, .failure(error)) }
    guard let token = reply.token, let probability = token.logProbability else {
      return end(index, .failure(CancellationError()))
    }
    if let yes { return end(index, .success(Self.score(yes, probability, tokens.count))) }
    if let no = token.topLogProbabilities.first(where: { $0.id == prompt.no })?.logProbability {
      return end(index, .success(Self.score(probability, no, tokens.count)))
    }
    service.dispatch { self.ask(tokens, index, yes: probability) }
  }

  private static func score(_ yes: Float, _ no: Float, _ count: Int) -> Score {
    Score(score: 1 / (1 + exp(Double(no) - Double(yes))), promptTokens: count)
  }

  private func end(_ index: Int, _ result: Result<Score, any Error>) {
    service.admission.leave()
    if case .failure = result { exchange.record.fail() }
    let left = lock.withLock { () -> Int in
      do { scores[index] = try result.get() } catch { failure = failure ?? error }
      open -= 1
      return open
    }
    if left == 0 { service.dispatch { self.reply() } }
  }

  private func reply() {
    let (scores, failure) = lock.withLock { (self.scores, self.failure) }
    exchange.reply(.whole(failure.map { APIError(any: $0).response(.openAI) } ?? answer(scores)))
  }

  private func cancel() {
    let all = lock.withLock {
      isCancelled = true
      return cancels
    }
    for cancel in all { cancel() }
  }
}
