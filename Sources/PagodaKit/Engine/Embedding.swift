// Embedding: a text as one vector, computed from the model's hidden states.
internal import CxxCore

/// How the hidden states of a text's tokens become one vector.
public enum Pooling: String, Hashable, Sendable, CaseIterable {
  /// The state of the last token, as Qwen3-Embedding was trained.
  case last
  /// The mean of all states.
  case mean
}

/// A text as a vector.
///
/// ```swift
/// let (question, text) = (try await engine.embed("Which pets bark?"), try await engine.embed("A small dog."))
/// print(question.similarity(to: text))
/// ```
public struct Embedding: Hashable, Sendable {
  /// The components; their number is the model's hidden size.
  public var values: [Float]
  /// Number of tokens in the text.
  public var tokenCount: Int

  /// A text as a vector.
  public init(values: [Float], tokenCount: Int) {
    self.values = values
    self.tokenCount = tokenCount
  }

  /// The first `dimensions` components, or all, scaled to length 1. A zero vector is returned unchanged.
  public func normalized(dimensions: Int? = nil) -> Embedding {
    let kept = values.prefix(dimensions ?? values.count)
    let length = kept.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
    return Embedding(values: kept.map { length > 0 ? Float(Double($0) / length) : 0 }, tokenCount: tokenCount)
  }

  /// The cosine of the angle between two vectors, from -1 to 1.
  public func similarity(to other: Embedding) -> Double {
    let (a, b) = (normalized().values, other.normalized().values)
    return zip(a, b).reduce(0.0) { $0 + Double($1.0) * Double($1.1) }
  }
}

extension Engine {
  /// The vector of a text, of length 1. Any model produces one, but only models trained for it, such as Qwen3-Embedding,
  /// give texts of similar meaning similar vectors.
  public func embed(_ text: String, pooling: Pooling = .last) async throws -> Embedding {
    let tokens = try embeddingTokens(of: text)
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        do {
          cancellation.set(
            try startEmbedding(of: tokens, pooling: pooling) { result in
              let ended = result.map { $0.0.normalized() }
              continuation.resume(with: cancellation.isCancelled ? ended.mapError { _ in CancellationError() } : ended)
            })
        } catch {
          continuation.resume(throwing: error)
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// The vectors of texts, in the same order. They are computed together, up to 64 at a time.
  ///
  /// ```swift
  /// let vectors = try await engine.embed(["A small dog.", "A big cat."])
  /// print(vectors[0].similarity(to: vectors[1]))
  /// ```
  public func embed(_ texts: [String], pooling: Pooling = .last) async throws -> [Embedding] {
    try await withThrowingTaskGroup(of: (Int, Embedding).self) { group in
      var vectors = [Embedding?](repeating: nil, count: texts.count)
      for (index, text) in texts.enumerated() {
        if index >= 64, let (done, vector) = try await group.next() { vectors[done] = vector }
        group.addTask { (index, try await self.embed(text, pooling: pooling)) }
      }
      for try await (done, vector) in group { vectors[done] = vector }
      return vectors.compactMap { $0 }
    }
  }

  /// The tokens of a text, including those that the tokenizer adds at its start and end.
  package func embeddingTokens(of text: String) throws -> [Int32] {
    guard let tokenizer else { throw PagodaError.unsupported("this model has no tokenizer; use token ids") }
    return tokenizer.startTokens + (try tokenizer.encode(text)) + tokenizer.endTokens
  }

  /// Queues a text; `done` is called once, on the engine's thread, with a vector that is not normalised. Returns the
  /// cancellation.
  package func startEmbedding(
    of tokens: [Int32], pooling: Pooling, cacheSalt: String = "", shareID: String = "", priority: Int = 0,
    done: @escaping @Sendable (Result<(Embedding, Completion), any Error>) -> Void
  ) throws -> @Sendable () -> Void {
    var request = pagoda.Request()
    request.prompt_ids = .init(tokens)
    request.pooling = pooling == .mean ? .mean : .last
    request.cache_salt = std.string(cacheSalt)
    request.share_id = std.string(shareID)
    request.priority = Int32(clamping: priority)
    let retained = Unmanaged.passRetained(EmbeddingBox(done))
    let result = core.engine.submit(request, receiveEmbedding, retained.toOpaque())
    if let error = PagodaError(result.status) {
      retained.release()
      throw error
    }
    let id = result.request_id
    return { [core] in core.engine.cancel(id) }
  }
}

/// The Swift side of an embedding request; alive from submission to the finished event.
private final class EmbeddingBox: Sendable {
  let done: @Sendable (Result<(Embedding, Completion), any Error>) -> Void

  init(_ done: @escaping @Sendable (Result<(Embedding, Completion), any Error>) -> Void) { self.done = done }

  func receive(_ event: borrowing pagoda.Event) {
    if let error = PagodaError(event.status), event.finish_reason == .error { return done(.failure(error)) }
    let completion = Completion(event)
    if event.embedding.empty() { return done(.failure(PagodaError.shutDownWhileRunning)) }
    let embedding = Embedding(values: Array(event.embedding), tokenCount: completion.usage.promptTokens)
    done(.success((embedding, completion)))
  }
}

/// Called by the core on its own thread, so it must not belong to an actor.
private func receiveEmbedding(_ context: UnsafeMutableRawPointer?, _ event: UnsafePointer<pagoda.Event>) {
  guard let context, event.pointee.kind == .finished else { return }
  let box = Unmanaged<EmbeddingBox>.fromOpaque(context)
  box.takeUnretainedValue().receive(event.pointee)
  box.release()
}
