// Log probabilities of prompts in vLLM's shape.
import PagodaKit

extension TokenTexts {
  /// One object per token, null for the first: by token id, the token itself and its most likely alternatives.
  func promptLogprobs(_ answer: Answer, count: Int) -> JSONValue {
    .array(
      (answer.completion?.promptTokens ?? []).map { token in
        guard let own = token.logProbability else { return .null }
        var members: [JSONValue.Member] = [entry(token.id, own, rank: token.rank ?? 0)]
        for (index, top) in token.topLogProbabilities.prefix(count).enumerated() where top.id != token.id {
          members.append(entry(top.id, top.logProbability, rank: index + 1))
        }
        return .object(members)
      })
  }

  private func entry(_ id: Int32, _ logprob: Float, rank: Int) -> JSONValue.Member {
    .init(
      key: String(id),
      value: .object([
        "logprob": Self.number(logprob), "rank": .integer(Int64(rank)), "decoded_token": .string(text(of: id)),
      ]))
  }
}
