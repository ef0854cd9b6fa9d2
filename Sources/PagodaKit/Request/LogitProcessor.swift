// LogitProcessor: a program's own rule for the logits of an answer, or its own sampler.

/// A rule of your own for each token of an answer: it changes the logits before the token is sampled, or chooses the
/// token itself.
///
/// ```swift
/// let withoutCommas = LogitProcessor { row in
///   for id in commas { row[id] = -.infinity }
/// }
/// let greedy = LogitProcessor.sampler { row in
///   Int32(row.logits.indices.max { row.logits[$0] < row.logits[$1] } ?? 0)
/// }
/// print(try await session.respond(to: "Name three colours.", options: ResponseOptions(logitProcessor: greedy)))
/// ```
///
/// The rule is called for one token after the other, on a thread of the request's own. While it runs, its request waits
/// and all others continue. An answer with a rule is slower than others: the logits leave the device, a step cannot start
/// before the rule of the last one has ended, and no tokens are drafted. Prefer ``SamplingParameters/logitBias``,
/// ``SamplingParameters/badWords`` and ``Request/grammar`` where they suffice.
///
/// An error that the rule throws ends the answer, and its reader gets that error. When the reader leaves, the answer
/// ends within a step; a call of the rule that is still running has no further effect.
public struct LogitProcessor: Sendable {
  let process: @Sendable (inout LogitRow) throws -> Void
  private let identity = Identity()

  private final class Identity: Sendable {}

  /// A rule that changes the logits, or sets ``LogitRow/chosenToken``.
  public init(_ process: @escaping @Sendable (_ row: inout LogitRow) throws -> Void) { self.process = process }

  /// A sampler of your own: returns the id of the token to take.
  public static func sampler(_ choose: @escaping @Sendable (_ row: LogitRow) throws -> Int32) -> LogitProcessor {
    LogitProcessor { $0.chosenToken = try choose($0) }
  }
}

extension LogitProcessor: Hashable {
  /// Copies of one rule are equal; rules created separately are not, even with the same closure.
  public static func == (a: LogitProcessor, b: LogitProcessor) -> Bool { a.identity === b.identity }

  /// Hashes the identity of the rule.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}

/// The logits of the next token of an answer, for a ``LogitProcessor``.
///
/// ```swift
/// let rule = LogitProcessor { row in
///   if row.answerTokens.count < 20, let end { row[end] = -.infinity }  // at least 20 tokens
/// }
/// ```
public struct LogitRow: Hashable, Sendable {
  /// One value for each id of the vocabulary, before biases, penalties and temperature, which are applied afterwards.
  /// Ids that the request's grammar or limits exclude here have -infinity. Must not become NaN or +infinity.
  public var logits: [Float]
  /// The token to take, whatever the logits are; nil to sample one. An id that the request excludes here is an error.
  public var chosenToken: Int32?
  /// The prompt, then the answer so far.
  public let tokens: [Int32]
  /// How many of the tokens belong to the prompt.
  public let promptTokenCount: Int

  /// A row, for tests of a rule.
  public init(logits: [Float], tokens: [Int32] = [], promptTokenCount: Int = 0) {
    self.logits = logits
    self.tokens = tokens
    self.promptTokenCount = promptTokenCount
  }

  /// The answer so far.
  public var answerTokens: ArraySlice<Int32> { tokens[promptTokenCount...] }

  /// The logit of a token.
  public subscript(id: Int32) -> Float {
    get { logits[Int(id)] }
    set { logits[Int(id)] = newValue }
  }
}

extension LogitProcessor {
  /// Applies the rule, for tests of it.
  public func apply(to row: inout LogitRow) throws { try process(&row) }
}
