// Sampling parameters through the Swift API.
import Foundation
import PagodaKit
import Testing

@Suite struct SamplingTests {
  private func answer(_ change: (inout SamplingParameters) -> Void) async throws -> Response {
    var sampling = SamplingParameters()
    change(&sampling)
    return try await Shared.engine.respond(to: Request(Shared.france, sampling: sampling))
  }

  @Test func fields_that_are_missing_in_json_have_their_defaults() throws {
    func decode(_ text: String) throws -> SamplingParameters {
      try JSONDecoder().decode(SamplingParameters.self, from: Data(text.utf8))
    }
    #expect(try decode("{}") == SamplingParameters())
    var sampling = SamplingParameters()
    (sampling.temperature, sampling.stopStrings, sampling.ignoresEndOfText) = (0.5, ["a"], true)
    #expect(
      try decode(#"{"temperature": 0.5, "stopStrings": ["a"], "ignoresEndOfText": true, "topK": null}"#) == sampling)
    (sampling.logitBias, sampling.minimumTokens, sampling.stopTokens) = ([5: -100], 3, [7])
    (sampling.topK, sampling.topP, sampling.minP, sampling.seed) = (4, 0.5, 0.25, .max)
    (sampling.repetitionPenalty, sampling.presencePenalty, sampling.frequencyPenalty) = (1.5, 1, -1)
    (sampling.maximumTokens, sampling.thinkingBudget, sampling.topLogProbabilities) = (9, 8, 2)
    (sampling.topNSigma, sampling.xtc) = (1.5, .init(probability: 0.5, threshold: 0.2))
    (sampling.dynamicTemperature, sampling.dry) = (.init(range: 0.3), .init(multiplier: 0.8, window: 64))
    #expect(try decode(String(decoding: JSONEncoder().encode(sampling), as: UTF8.self)) == sampling)
    #expect(throws: DecodingError.self) { try decode(#"{"minimumTokens": "three"}"#) }
  }

  /// With a large penalty no sequence of three tokens occurs twice.
  @Test func dry_ends_a_repetition() async throws {
    func repeats(_ response: Response) -> Int {
      let tokens = response.tokens.map(\.id)
      let all = tokens.indices.dropLast(2).map { Array(tokens[$0..<$0 + 3]) }
      return all.count - Set(all).count
    }
    let plain = try await answer { ($0.ignoresEndOfText, $0.maximumTokens) = (true, 120) }
    let dry = try await answer {
      ($0.ignoresEndOfText, $0.maximumTokens) = (true, 120)
      $0.dry = .init(multiplier: 100, allowedLength: 1, breakers: [])
    }
    #expect(repeats(plain) > 0)
    #expect(repeats(dry) == 0)
  }

  @Test func excluding_every_top_choice_changes_the_answer() async throws {
    let plain = try await answer { ($0.temperature, $0.seed, $0.maximumTokens) = (1, 3, 24) }
    let other = try await answer {
      ($0.temperature, $0.seed, $0.maximumTokens) = (1, 3, 24)
      $0.xtc = .init(probability: 1, threshold: 1e-6)
    }
    #expect(plain.tokens.map(\.id) != other.tokens.map(\.id))
    await #expect(throws: PagodaError.self) { try await self.answer { $0.xtc = .init(probability: 2) } }
  }

  @Test func a_limit_of_tokens_ends_with_length() async throws {
    let response = try await answer { $0.maximumTokens = 2 }
    #expect(response.tokens.count == 2)
    #expect(response.completion.finishReason == .length)
  }

  @Test func a_stop_string_cuts_the_text() async throws {
    let response = try await answer { $0.stopStrings = ["Par"] }
    #expect(!response.text.contains("Par"))
    #expect(response.completion.stopString == "Par")
    #expect(response.completion.finishReason == .stop)
  }

  @Test func the_same_seed_gives_the_same_answer() async throws {
    let first = try await answer { ($0.temperature, $0.seed, $0.maximumTokens) = (1.5, 7, 24) }
    let second = try await answer { ($0.temperature, $0.seed, $0.maximumTokens) = (1.5, 7, 24) }
    #expect(first.tokens == second.tokens)
  }

  @Test func the_model_file_says_greedy() async throws {
    let byDefault = try await answer { _ in }
    let greedy = try await answer { $0.temperature = 0 }
    #expect(byDefault.tokens == greedy.tokens)
  }

  @Test func log_probabilities_are_returned_on_request() async throws {
    let response = try await answer { $0.topLogProbabilities = 3 }
    for token in response.tokens {
      let own = try #require(token.logProbability)
      #expect(own <= 0)
      #expect(token.topLogProbabilities.count == 3)
      #expect(token.topLogProbabilities.first?.id == token.id)  // greedy takes the most likely token
    }
    #expect(try await answer { _ in }.tokens.allSatisfy { $0.logProbability == nil })
  }
}
