// CompletionRequest: the body of /v1/completions.
import PagodaKit

struct CompletionRequest: Sendable {
  var model: String
  var generation: Generation
  var includesUsage = false
  var logprobs: Int?
  var echoes = false
  var isPromptOnly: Bool
  /// Answers to return for each prompt, the likeliest of those generated.
  var sentAnswers: Int
  var promptLogprobs: Int?
  var unknownFields: [String]

  init(_ body: [UInt8], models: ServedModels, vocabularySize: Int) throws {
    let fields = try FieldReader(body: body, table: .completions)
    unknownFields = fields.unknown
    model = try models.name(in: fields)
    logprobs = try fields.integer("logprobs", in: 0...20)
    echoes = try fields.flag("echo") ?? false
    // Only the prompt's log probabilities are needed: one token is generated and dropped.
    isPromptOnly = echoes && fields["max_tokens"] == .integer(0)
    var sampling = try fields.sampling(FieldTable.sampling.subtracting(isPromptOnly ? ["max_tokens"] : []))
    sentAnswers = try fields.integer("n", in: ChatRequest.answers) ?? 1
    let madeAnswers = try fields.integer("best_of", in: ChatRequest.answers) ?? sentAnswers
    if madeAnswers < sentAnswers {
      throw APIError.invalid("best_of is \(madeAnswers); it must be at least n, \(sentAnswers)", param: "best_of")
    }
    sampling.topLogProbabilities = madeAnswers > sentAnswers ? logprobs ?? 0 : logprobs
    let limit = try fields.tokenLimit("max_completion_tokens")
    sampling.maximumTokens = limit ?? sampling.maximumTokens ?? (isPromptOnly ? 1 : 16)  // OpenAI's default

    generation = Generation(prompts: try fields.prompts(vocabularySize: vocabularySize), sampling: sampling)
    generation.promptField = "prompt"
    generation.request.grammar = try fields.grammar("response_format")
    if let guided = try fields.guidedGrammar() { (generation.request.grammar, generation.grammarField) = guided }
    try generation.readCommon(fields, models)
    generation.request.speculates = try fields.flag("speculate") ?? true
    generation.answers = madeAnswers
    generation.isStream = try fields.flag("stream") ?? false
    if generation.isStream && madeAnswers > sentAnswers {
      throw APIError.invalid("best_of above n needs stream to be false", param: "best_of")
    }
    if limit != nil { generation.limitField = "max_completion_tokens" }
    includesUsage = try fields.streamOptions(isStream: generation.isStream)
    promptLogprobs = try fields.promptLogprobs(isStream: generation.isStream)
    generation.request.promptLogProbabilities = [echoes ? logprobs : nil, promptLogprobs].compactMap { $0 }.max()
    if echoes && logprobs != nil && generation.isStream {
      throw APIError.invalid("echo with logprobs needs stream to be false", param: "echo")
    }
  }
}

extension FieldReader {
  /// vLLM's log probabilities of the prompt.
  func promptLogprobs(isStream: Bool) throws -> Int? {
    guard let count = try integer("prompt_logprobs", in: 0...20) else { return nil }
    if isStream { throw APIError.invalid("prompt_logprobs needs stream to be false", param: "prompt_logprobs") }
    return count
  }

  /// Text, token ids, or an array of either.
  fileprivate func prompts(vocabularySize: Int) throws -> [Generation.Prompt] {
    guard let value = self["prompt"] else { throw missing("prompt") }
    if let suffix = try string("suffix"), !suffix.isEmpty { return try middles(value, suffix) }
    if let text = value.stringValue { return [.text(try checked(text))] }
    guard let list = value.arrayValue else { throw wrongPrompt }
    if list.isEmpty { throw APIError.invalid("prompt is empty", param: "prompt") }
    if list.allSatisfy({ $0.doubleValue != nil }) {
      return [.tokens(try tokenIDs(list, of: "prompt", below: vocabularySize))]
    }
    if list.count > Generation.maximumSequences {
      throw APIError.invalid(
        "prompt has \(list.count) prompts; at most \(Generation.maximumSequences) are allowed", param: "prompt")
    }
    return try list.map { element in
      if let text = element.stringValue { return .text(try checked(text)) }
      guard let ids = element.arrayValue, !ids.isEmpty else { throw wrongPrompt }
      return .tokens(try tokenIDs(ids, of: "prompt", below: vocabularySize))
    }
  }

  /// Texts between each of the prompts, which may be empty, and the suffix.
  private func middles(_ value: JSONValue, _ suffix: String) throws -> [Generation.Prompt] {
    let texts = value.stringValue.map { [$0] } ?? value.arrayValue?.compactMap(\.stringValue) ?? []
    guard !texts.isEmpty, texts.count == value.arrayValue?.count ?? 1, texts.count <= Generation.maximumSequences else {
      throw APIError.invalid("suffix needs prompts that are text", param: "suffix")
    }
    if try flag("echo") ?? false { throw APIError.invalid("suffix and echo exclude each other", param: "suffix") }
    return texts.map { .middle(prefix: $0, suffix: suffix) }
  }

  private func checked(_ text: String) throws -> String {
    if text.isEmpty { throw APIError.invalid("prompt is empty", param: "prompt") }
    return text
  }

  private var wrongPrompt: APIError {
    .invalid("prompt must be a string, an array of token ids, or an array of those", param: "prompt")
  }
}
