// Sampling parameters through the Swift API.
import PagodaKit
import Testing

@Suite struct SamplingTests {
  private func answer(_ change: (inout SamplingParameters) -> Void) async throws -> Response {
    var sampling = SamplingParameters()
    change(&sampling)
    return try await Shared.engine.respond(to: Request(Shared.france, sampling: sampling))
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

  @Test func log_probabilities_come_when_asked_for() async throws {
    let response = try await answer { $0.topLogProbabilities = 3 }
    for token in response.tokens {
      let own = try #require(token.logProbability)
      #expect(own <= 0)
      #expect(token.topLogProbabilities.count == 3)
      #expect(token.topLogProbabilities.first?.id == token.id)  // greedy takes the likeliest
    }
    #expect(try await answer { _ in }.tokens.allSatisfy { $0.logProbability == nil })
  }
}
