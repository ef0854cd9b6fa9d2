// SpeculationBench: speed-up of speculative decoding, interleaved with plain decoding.
internal import CxxCore

/// Measures speculative decoding on this machine: the same requests with and without drafts, interleaved.
///
/// ```swift
/// var bench = SpeculationBench()
/// bench.tokens = 64
/// try await bench.run(.mini, options: EngineOptions()) { print($0.kind, $0.speedup) }
/// ```
public struct SpeculationBench: Hashable, Sendable {
  /// A text to measure.
  public struct Prompt: Hashable, Sendable {
    /// The kind of text, which names the row.
    public var kind: String
    /// A user message, or the prompt itself if the model has no chat template.
    public var text: String

    /// A prompt of a kind.
    public init(kind: String, text: String) {
      self.kind = kind
      self.text = text
    }

    /// A code edit, JSON, prose and chat.
    public static var all: [Prompt] {
      pagoda.speculation_bench_prompts().map { Prompt(kind: String($0.kind), text: String($0.text)) }
    }
  }

  /// The measurements of one prompt.
  public struct Row: Hashable, Sendable {
    /// The prompt's kind; `random ids` for a shape, and for a model without a tokenizer.
    public var kind: String
    /// Tokens per second without drafts: the median of the rounds.
    public var plainTokensPerSecond: Double
    /// Tokens per second with drafts: the median of the rounds.
    public var tokensPerSecond: Double
    /// The median of the rounds' ratios.
    public var speedup: Double
    /// Drafted and accepted tokens over all rounds.
    public var speculation: SpeculationStatistics
    /// Bits of tokens, log probabilities, finish reasons and usage that differ between the two. Any value except 0
    /// is a bug.
    public var differingBits: Int64

    /// A row, for tests.
    public init(
      kind: String, plainTokensPerSecond: Double, tokensPerSecond: Double, speedup: Double,
      speculation: SpeculationStatistics, differingBits: Int64
    ) {
      self.kind = kind
      self.plainTokensPerSecond = plainTokensPerSecond
      self.tokensPerSecond = tokensPerSecond
      self.speedup = speedup
      self.speculation = speculation
      self.differingBits = differingBits
    }
  }

  /// The prompts to answer; each has a row in the result. Ignored for a model without a tokenizer, which gets random
  /// ids.
  public var prompts = Prompt.all
  /// Tokens of each answer.
  public var tokens = 128
  /// How often each prompt is answered with and without drafts.
  public var rounds = 5
  /// Concurrent answers to the same prompt, every second one sampled with temperature 0.6.
  public var sequences = 1
  /// Probability, 0 to 1, that an oracle's draft is correct; nil means the engine's own drafts.
  public var acceptance: Double?

  /// The default measurement.
  public init() {}

  /// Loads the model and measures.
  /// - Parameters:
  ///   - source: the origin of the model.
  ///   - options: as for an engine; the prefix cache is always off.
  ///   - report: called with each row as soon as it is measured.
  public func run(
    _ source: ModelSource, options: EngineOptions, report: @escaping @Sendable (Row) -> Void
  ) async throws {
    try await offCooperativePool {
      let coreOptions = try options.core()
      let reporter = RowReporter(report)
      let context = Unmanaged.passUnretained(reporter).toOpaque()
      let status = withExtendedLifetime(reporter) {
        pagoda.bench_speculation(source.core, coreOptions, core, reportRow, context)
      }
      try status.throwIfError(naming: options.fieldNames)
    }
  }

  private var core: pagoda.SpeculationBenchSettings {
    var settings = pagoda.SpeculationBenchSettings()
    for prompt in prompts {
      var one = pagoda.SpeculationBenchPrompt()
      one.kind = std.string(prompt.kind)
      one.text = std.string(prompt.text)
      settings.prompts.push_back(one)
    }
    settings.num_tokens = Int32(clamping: tokens)
    settings.num_rounds = Int32(clamping: rounds)
    settings.num_sequences = Int32(clamping: sequences)
    settings.accept = acceptance ?? -1
    return settings
  }
}

extension SpeculationBench.Row {
  init(_ row: pagoda.SpeculationBenchRow) {
    kind = String(row.kind)
    plainTokensPerSecond = row.plain_tokens_per_second
    tokensPerSecond = row.tokens_per_second
    speedup = row.speedup
    speculation = SpeculationStatistics(row.speculation)
    differingBits = row.num_differing_bits
  }
}

private final class RowReporter: Sendable {
  let report: @Sendable (SpeculationBench.Row) -> Void

  init(_ report: @escaping @Sendable (SpeculationBench.Row) -> Void) { self.report = report }
}

private func reportRow(_ context: UnsafeMutableRawPointer?, _ row: UnsafePointer<pagoda.SpeculationBenchRow>) {
  guard let context else { return }
  Unmanaged<RowReporter>.fromOpaque(context).takeUnretainedValue().report(SpeculationBench.Row(row.pointee))
}
