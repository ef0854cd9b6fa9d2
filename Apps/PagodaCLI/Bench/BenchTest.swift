// BenchTest: one measurement of `pagoda bench`, as --tests names it.
import PagodaKit

package struct BenchTest: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case prefill(tokens: Int)  // pp512
    case decode(tokens: Int, depth: Int)  // tg128, tg64@d16384
    case speculative(tokens: Int)  // tg128+spec
    case batch(sequences: Int)  // b8
  }

  package var name: String
  package var kind: Kind
  /// Of a batch.
  package var sampling = BenchSampling.greedy

  /// Tokens of the prompt in tests that do not measure it.
  static let shortPrompt = 16
  /// Tokens that each sequence of a batch generates.
  static let batchTokens = 64

  /// Maximum tokens of a text to continue.
  static let longestText = 1024

  static let forms =
    "pp512 (prompt), tg128 (decode), tg64@d16384 (decode after 16384 tokens), tg128+spec (real text, with speculation), "
    + "b8 (8 concurrent sequences), b8+presence (with a kind of sampling: \(BenchSampling.help)), b8+sampling (with each kind)"
  static let defaults = "pp512,tg128,b8"

  /// A list such as `pp512,tg64@d16384,b8`.
  package static func parse(_ list: String) throws(UsageError) -> [BenchTest] {
    var tests: [BenchTest] = []
    for item in list.split(separator: ",", omittingEmptySubsequences: false) {
      let name = item.filter { !$0.isWhitespace }
      guard let test = BenchTest(name) ?? everySampling(name).first else {
        throw UsageError("--tests has '\(name)'; known forms are \(forms)")
      }
      tests += BenchTest(name) == nil ? everySampling(name) : [test]
    }
    return tests
  }

  /// The tests of `b8+sampling`; empty if the name is another one.
  private static func everySampling(_ name: String) -> [BenchTest] {
    let batch = String(name.dropLast("+sampling".count))
    guard name.hasSuffix("+sampling"), case .batch? = BenchTest(batch)?.kind else { return [] }
    return BenchSampling.allCases.compactMap { BenchTest($0 == .greedy ? batch : "\(batch)+\($0.rawValue)") }
  }

  package init?(_ name: String) {
    self.name = name
    if name.hasPrefix("pp"), let tokens = Self.count(name.dropFirst(2), upTo: 1_000_000) {
      kind = .prefill(tokens: tokens)
    } else if name.hasPrefix("tg"), name.hasSuffix("+spec") {
      guard let tokens = Self.count(name.dropFirst(2).dropLast(5), upTo: 100_000) else { return nil }
      kind = .speculative(tokens: tokens)
    } else if name.hasPrefix("tg") {
      let parts = name.dropFirst(2).split(separator: "@d", omittingEmptySubsequences: false)
      guard parts.count <= 2, let tokens = Self.count(parts[0], upTo: 100_000) else { return nil }
      guard parts.count == 2 else {
        kind = .decode(tokens: tokens, depth: 0)
        return
      }
      guard let depth = Self.count(parts[1], upTo: 1_000_000) else { return nil }
      kind = .decode(tokens: tokens, depth: depth)
    } else if name.hasPrefix("b") {
      let parts = name.dropFirst().split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
      guard let sequences = Self.count(parts[0], upTo: 1024) else { return nil }
      kind = .batch(sequences: sequences)
      guard parts.count == 2 else { return }
      guard let sampling = BenchSampling(rawValue: String(parts[1])), sampling != .greedy else { return nil }
      self.sampling = sampling
    } else {
      return nil
    }
  }

  private static func count(_ digits: Substring, upTo limit: Int) -> Int? {
    guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let value = Int(digits), (1...limit).contains(value) else {
      return nil
    }
    return value
  }
}

extension BenchTest {
  /// Whether it measures speculative decoding.
  package var isSpeculative: Bool { if case .speculative = kind { true } else { false } }

  /// Number of concurrent sequences.
  package var sequences: Int {
    if case .batch(let sequences) = kind { return sequences }
    return 1
  }

  package var promptTokens: Int {
    switch kind {
    case .prefill(let tokens): tokens
    case .decode(_, let depth): depth > 0 ? depth : Self.shortPrompt
    case .speculative: Self.longestText
    case .batch: Self.shortPrompt
    }
  }

  /// Tokens that one sequence generates in one run. A deep prompt is computed once, and all repetitions follow it.
  func generatedTokens(repetitions: Int) -> Int {
    switch kind {
    case .prefill: 1
    case .decode(let tokens, let depth): 1 + tokens * (depth > 0 ? repetitions : 1)
    case .speculative(let tokens): 1 + tokens
    case .batch: Self.batchTokens
    }
  }

  /// Tokens of the longest sequence.
  func length(repetitions: Int) -> Int { promptTokens + generatedTokens(repetitions: repetitions) }
}

extension [BenchTest] {
  /// `options` sized for exactly these tests, except for values that the user has set.
  package func sized(_ options: EngineOptions, repetitions: Int, given arguments: Arguments) -> EngineOptions {
    var sized = options
    // Without drafts a step is one token of each sequence.
    if !arguments.has("speculate") && !contains(where: \.isSpeculative) { sized.speculation = .off }
    sized.prefixCache = false  // repetitions must not reuse the first one's results
    // A time limit would keep the prompts of a batch waiting until its first sequences have ended.
    if !arguments.has("max-step-ms") { sized.maximumStepMilliseconds = .infinity }
    let length = map { $0.length(repetitions: repetitions) }.max() ?? 1
    if !arguments.has("max-model-len") { sized.maximumModelLength = length }
    if !arguments.has("max-num-seqs") { sized.maximumSequences = map(\.sequences).max() ?? 1 }
    if !arguments.has("num-kv-blocks") && !arguments.has("kv-cache-memory") {
      let blocks = map {
        $0.sequences * (($0.length(repetitions: repetitions) + options.blockSize - 1) / options.blockSize)
      }
      sized.kvBlockCount = Int64(blocks.max() ?? 1) + 1
    }
    return sized
  }
}
