// Receipt: everything that determined an answer, so that it can be reproduced and compared token by token.
internal import CxxCore

/// One answer and everything that determined it. The prompt's ids may be omitted; then only their hash identifies them.
package struct Receipt: Sendable, Equatable {
  package static let version: Int64 = 1
  package var promptHash: String
  package var promptCount: Int
  package var prompt: [Int32]?
  package var answer: [Int32] = []
  package var sampling: SamplingParameters  // with the model's defaults and the seed filled in
  package var grammar: Request.CoreGrammar?
  package var hasThinkingTags = true

  /// FNV-1a over the ids, 64 bits in hexadecimal.
  package static func hash(of ids: [Int32]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for id in ids {
      for shift in stride(from: 0, to: 32, by: 8) {
        hash = (hash ^ UInt64(UInt8(truncatingIfNeeded: id >> Int32(shift)))) &* 0x100_0000_01b3
      }
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The request that verifies this receipt, given the prompt.
  package func check(prompt: [Int32]) -> Request {
    var request = Request(prompt: .tokens(prompt), sampling: sampling)
    request.answerTokens = answer
    request.hasThinkingTags = hasThinkingTags
    request.coreGrammar = grammar
    return request
  }
}

extension Receipt {
  package var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init(key: "receipt", value: .integer(Self.version)), .init(key: "prompt_hash", value: .string(promptHash)),
      .init(key: "prompt_tokens", value: .integer(Int64(promptCount))),
    ]
    func ids(_ list: [Int32]) -> JSONValue { .array(list.map { .integer(Int64($0)) }) }
    func number(_ key: String, _ value: Double?) {
      members.append(.init(key: key, value: value.map { .number($0) } ?? .null))
    }
    if let prompt { members.append(.init(key: "prompt", value: ids(prompt))) }
    members.append(.init(key: "answer", value: ids(answer)))
    members.append(.init(key: "seed", value: .string(String(sampling.seed ?? 0))))
    number("temperature", sampling.temperature)
    number("top_p", sampling.topP)
    number("min_p", sampling.minP)
    number("repetition_penalty", sampling.repetitionPenalty)
    number("presence_penalty", sampling.presencePenalty)
    number("frequency_penalty", sampling.frequencyPenalty)
    number("top_n_sigma", sampling.topNSigma)
    members += rules
    let biases = sampling.logitBias.sorted { $0.key < $1.key }
    members += [
      .init(key: "top_k", value: .integer(Int64(sampling.topK ?? 0))),
      .init(key: "min_tokens", value: .integer(Int64(sampling.minimumTokens))),
      .init(key: "ignore_eos", value: .bool(sampling.ignoresEndOfText)),
      .init(key: "stop_token_ids", value: ids(sampling.stopTokens)),
      .init(key: "thinking_budget", value: .integer(Int64(sampling.thinkingBudget ?? -1))),
      .init(key: "logit_bias", value: .object(biases.map { .init(key: String($0.key), value: .number($0.value)) })),
      .init(key: "bad_token_ids", value: .array(sampling.bannedTokens.map(ids))),
      .init(key: "grammar_kind", value: .string(grammar?.kind.rawValue ?? "")),
      .init(key: "grammar", value: .string(grammar?.text ?? "")),
      .init(key: "thinking_tags", value: .bool(hasThinkingTags)),
    ]
    return .object(members)
  }

  /// Nil if the text is not a receipt, or is of another version.
  package init?(_ json: JSONValue) {
    func ids(_ key: String) -> [Int32]? {
      guard let list = json[key]?.arrayValue else { return nil }
      let ids = list.compactMap { $0.intValue.flatMap { Int32(exactly: $0) } }
      return ids.count == list.count ? ids : nil
    }
    guard json["receipt"]?.intValue == Self.version, let hash = json["prompt_hash"]?.stringValue,
      let count = json["prompt_tokens"]?.intValue, let answer = ids("answer"),
      let seed = json["seed"]?.stringValue.flatMap({ UInt64($0) }), let stops = ids("stop_token_ids")
    else { return nil }
    (promptHash, promptCount, prompt, self.answer) = (hash, Int(count), ids("prompt"), answer)
    sampling = SamplingParameters()
    sampling.seed = seed
    sampling.temperature = json["temperature"]?.doubleValue
    sampling.topP = json["top_p"]?.doubleValue
    sampling.minP = json["min_p"]?.doubleValue
    sampling.repetitionPenalty = json["repetition_penalty"]?.doubleValue
    sampling.presencePenalty = json["presence_penalty"]?.doubleValue
    sampling.frequencyPenalty = json["frequency_penalty"]?.doubleValue
    sampling.topNSigma = json["top_n_sigma"]?.doubleValue
    readRules(json)
    sampling.topK = json["top_k"]?.intValue.map { Int($0) }
    sampling.minimumTokens = Int(json["min_tokens"]?.intValue ?? 0)
    sampling.ignoresEndOfText = json["ignore_eos"]?.boolValue ?? false
    sampling.stopTokens = stops
    sampling.thinkingBudget = json["thinking_budget"]?.intValue.flatMap { $0 < 0 ? nil : Int($0) }
    for member in json["logit_bias"]?.objectValue ?? [] {
      guard let id = Int32(member.key), let bias = member.value.doubleValue else { return nil }
      sampling.logitBias[id] = bias
    }
    for list in json["bad_token_ids"]?.arrayValue ?? [] {
      sampling.bannedTokens.append((list.arrayValue ?? []).compactMap { $0.intValue.flatMap { Int32(exactly: $0) } })
    }
    if let name = json["grammar_kind"]?.stringValue, !name.isEmpty {
      guard let kind = Request.CoreGrammar.Kind(rawValue: name) else { return nil }
      grammar = .init(kind: kind, text: json["grammar"]?.stringValue ?? "")
    }
    hasThinkingTags = json["thinking_tags"]?.boolValue ?? true
  }
}

extension Receipt {
  /// The parts of a receipt known before the answer.
  init(_ request: borrowing pagoda.Request) {
    let ids = Array(request.prompt_ids)
    prompt = ids
    promptHash = Self.hash(of: ids)
    promptCount = ids.count
    let core = request.sampling
    sampling = SamplingParameters()
    sampling.temperature = Double(core.temperature)
    sampling.topK = Int(core.top_k)
    sampling.topP = Double(core.top_p)
    sampling.minP = Double(core.min_p)
    sampling.repetitionPenalty = Double(core.repetition_penalty)
    sampling.presencePenalty = Double(core.presence_penalty)
    sampling.frequencyPenalty = Double(core.frequency_penalty)
    sampling.topNSigma = Double(core.top_n_sigma)
    readRules(core)
    for bias in core.logit_bias { sampling.logitBias[bias.token_id] = Double(bias.bias) }
    sampling.seed = core.seed
    sampling.minimumTokens = Int(core.min_tokens)
    sampling.ignoresEndOfText = core.ignore_eos
    sampling.stopTokens = Array(core.stop_ids)
    sampling.bannedTokens = core.banned.map { Array($0.ids) }
    sampling.thinkingBudget = core.thinking_budget < 0 ? nil : Int(core.thinking_budget)
    grammar = Request.CoreGrammar(request.grammar)
    hasThinkingTags = request.prompt_has_thinking_tags
  }
}

extension Engine {
  /// Makes each later answer that ends normally produce a receipt, on the engine's thread.
  package func keepReceipts(_ take: @escaping @Sendable (Receipt) -> Void) { receipts.take = take }

  /// A hash of the outputs for a few tokens: equal for equal weights, number formats, kernels and versions.
  package func fingerprint() async throws -> String {
    var request = Request(prompt: .tokens((0..<32).map { Int32($0 * 7919 % info.vocabularySize) }))
    request.sampling.maximumTokens = 1
    request.promptLogProbabilities = 0
    let tokens = try await respond(to: request).completion.promptTokens
    return Receipt.hash(of: tokens.map { Int32(bitPattern: ($0.logProbability ?? 0).bitPattern) })
  }
}

/// The receiver of receipts; set once, before the first request.
final class ReceiptSink: @unchecked Sendable {
  var take: (@Sendable (Receipt) -> Void)?
}
