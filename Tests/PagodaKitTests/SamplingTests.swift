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
    #expect(try decode(String(decoding: JSONEncoder().encode(sampling), as: UTF8.self)) == sampling)
    #expect(throws: DecodingError.self) { try decode(#"{"minimumTokens": "three"}"#) }
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
