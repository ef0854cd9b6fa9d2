// ModelMetrics: counts and times of one model's answers, under vLLM's names if the meaning is the same.
import Foundation
import PagodaKit

final class ModelMetrics: @unchecked Sendable {
  private let lock = NSLock()
  // Guarded by `lock`.
  private var finished: [String: Int] = ["stop": 0, "length": 0, "abort": 0, "error": 0]
  private var promptTokens = 0
  private var cachedTokens = 0
  private var generatedTokens = 0
  private var firstToken = Histogram([0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120])
  private var betweenTokens = Histogram(Histogram.tokenSeconds)
  private var perToken = Histogram(Histogram.tokenSeconds)
  private var whole = Histogram(Histogram.requestSeconds)
  private var queue = Histogram([0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60])
  private var prefill = Histogram(Histogram.requestSeconds)
  private var decode = Histogram(Histogram.requestSeconds)
  private var promptLengths = Histogram(Histogram.tokenCounts)
  private var answerLengths = Histogram(Histogram.tokenCounts)
  private var longestAnswers = Histogram(Histogram.tokenCounts)
  private var prefillRates: [Double] = []  // tokens per second of the last representative prompts

  /// The speed of undelayed prompt processing: the best of the last prompts, in tokens per second.
  var prefillRate: Double? { lock.withLock { prefillRates.max() } }

  /// Seconds between a token and the one before it.
  func tokenFollowed(after seconds: Double) { lock.withLock { betweenTokens.add(seconds) } }

  /// All answers of a request have ended; the longest has this many tokens.
  func requestEnded(longest tokens: Int) { lock.withLock { longestAnswers.add(Double(tokens)) } }

  /// An answer has ended; nil for an error.
  func ended(_ completion: Completion?) {
    lock.withLock {
      guard let completion else {
        finished["error", default: 0] += 1
        return
      }
      let reason = completion.finishReason == .cancelled ? "abort" : completion.finishReason.rawValue
      finished[reason, default: 0] += 1
      let (usage, timings) = (completion.usage, completion.timings)
      promptTokens += usage.promptTokens
      cachedTokens += usage.cachedTokens
      generatedTokens += usage.completionTokens
      guard usage.completionTokens > 0 else { return }
      note(usage)
      note(timings, usage)
    }
  }

  /// Requires the lock.
  private func note(_ usage: Usage) {
    promptLengths.add(Double(usage.promptTokens))
    answerLengths.add(Double(usage.completionTokens))
  }

  /// Requires the lock.
  private func note(_ timings: Timings, _ usage: Usage) {
    let computed = usage.promptTokens - usage.cachedTokens
    if computed >= 64, timings.promptMilliseconds > 0 {
      prefillRates = prefillRates.suffix(15) + [Double(computed) / timings.promptMilliseconds * 1000]
    }
    queue.add(timings.queueMilliseconds / 1000)
    prefill.add(timings.promptMilliseconds / 1000)
    decode.add(timings.generationMilliseconds / 1000)
    firstToken.add((timings.queueMilliseconds + timings.promptMilliseconds) / 1000)
    if usage.completionTokens > 1 {
      perToken.add(timings.generationMilliseconds / 1000 / Double(usage.completionTokens - 1))
    }
    whole.add((timings.queueMilliseconds + timings.promptMilliseconds + timings.generationMilliseconds) / 1000)
  }

  var text: String {
    lock.withLock {
      var out = Metrics.single("vllm:prompt_tokens_total", "counter", "Tokens of prompts.", "\(promptTokens)")
      out += Metrics.single(
        "vllm:prefix_cache_hits_total", "counter", "Prompt tokens found in the cache.", "\(cachedTokens)")
      out += Metrics.single("vllm:prefix_cache_queries_total", "counter", "Prompt tokens looked up.", "\(promptTokens)")
      out += Metrics.single("vllm:generation_tokens_total", "counter", "Tokens generated.", "\(generatedTokens)")
      out += "# HELP vllm:request_success_total Answers by how they ended.\n# TYPE vllm:request_success_total counter\n"
      for (reason, count) in finished.sorted(by: { $0.key < $1.key }) {
        out += "vllm:request_success_total{finished_reason=\"\(reason)\"} \(count)\n"
      }
      out += firstToken.text("vllm:time_to_first_token_seconds", "From submission to the first token.")
      out += betweenTokens.text("vllm:inter_token_latency_seconds", "Between a token and the one before it.")
      out += perToken.text("vllm:time_per_output_token_seconds", "Between tokens, a mean for each answer.")
      out += queue.text("vllm:request_queue_time_seconds", "From submission to the first step.")
      out += prefill.text("vllm:request_prefill_time_seconds", "From the first step to the first token.")
      out += decode.text("vllm:request_decode_time_seconds", "From the first token to the last.")
      out += promptLengths.text("vllm:request_prompt_tokens", "Tokens of a prompt.")
      out += answerLengths.text("vllm:request_generation_tokens", "Tokens of an answer.")
      out += longestAnswers.text("vllm:request_max_num_generation_tokens", "Tokens of a request's longest answer.")
      return out + whole.text("vllm:e2e_request_latency_seconds", "From submission to the last token.")
    }
  }
}

/// Counts of values by upper bound.
struct Histogram {
  static let tokenSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
  static let requestSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
  static let tokenCounts: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 200_000]

  let bounds: [Double]
  var counts: [Int]
  var sum = 0.0

  init(_ bounds: [Double]) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  mutating func add(_ value: Double) {
    counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
    sum += value
  }

  func text(_ name: String, _ help: String) -> String {
    var lines = "# HELP \(name) \(help)\n# TYPE \(name) histogram\n"
    var total = 0
    for (bound, count) in zip(bounds.map { String($0) } + ["+Inf"], counts) {
      total += count
      lines += "\(name)_bucket{le=\"\(bound)\"} \(total)\n"
    }
    return lines + "\(name)_sum \(sum)\n\(name)_count \(total)\n"
  }
}
