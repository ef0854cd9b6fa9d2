// BenchSampling: what the sequences of a batch ask of the sampler, as the ending of a test's name: b32+presence.
import PagodaKit

package enum BenchSampling: String, CaseIterable, Sendable {
  case greedy = ""
  case presence, bias, grammar, logprobs
  case topP = "top-p"
  case minP = "min-p"

  /// In the help.
  static let help = allCases.dropFirst().map(\.rawValue).joined(separator: ", ")

  /// Whether the cost depends on how many tokens are likely.
  var dependsOnLikelyTokens: Bool { self == .topP || self == .minP }

  /// The log probability of the most likely token is about this much above that of the 20th in a trained model.
  private static let trainedGap = 6.0

  /// The temperature at which such a gap is at least that of a trained model: random weights give thousands of tokens
  /// nearly the same probability, so that top-p and min-p would keep most of them.
  package static func temperature(logProbabilities: [Float]) -> Double {
    guard let first = logProbabilities.first, let last = logProbabilities.last, first > last else { return 1 }
    return min(1, Double(first - last) / trainedGap)
  }

  /// Parameters of a request, as people send them; its tokens do not end it. `temperature`: of kinds whose cost depends
  /// on how many tokens are likely.
  func apply(to request: inout Request, temperature: Double = 1) {
    if self != .greedy && self != .logprobs { request.sampling.temperature = dependsOnLikelyTokens ? temperature : 1 }
    switch self {
    case .greedy: break
    case .presence:
      request.sampling.presencePenalty = 1.5
      request.sampling.topK = 20
      request.sampling.topP = 0.95
    case .bias:
      request.sampling.topK = 20
      for id in Int32(0)..<10 { request.sampling.logitBias[id * 7] = 2 }
    case .grammar:
      request.sampling.topK = 20
      request.sampling.ignoresEndOfText = false  // a grammar decides where its text may end
      request.sampling.minimumTokens = request.sampling.maximumTokens ?? 0
      request.grammar = .regex("[ -~]*")
    case .logprobs: request.sampling.topLogProbabilities = 20
    case .topP: request.sampling.topP = 0.95
    case .minP: request.sampling.minP = 0.05
    }
  }
}
