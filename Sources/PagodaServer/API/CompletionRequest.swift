// CompletionRequest: the body of /v1/completions.
import PagodaKit

struct CompletionRequest: Sendable {
  var model: String
  var generation: Generation
  var includesUsage = false
  var logprobs: Int?
  var echoes = false
  var unknownFields: [String]

  init(_ body: [UInt8], models: ServedModels, vocabularySize: Int) throws {
    let fields = try FieldReader(body: body, table: .completions)
    unknownFields = fields.unknown
    model = try models.name(in: fields)
    logprobs = try fields.integer("logprobs", in: 0...20)
    var sampling = try fields.sampling(FieldTable.sampling)
    sampling.topLogProbabilities = logprobs
    let limit = try fields.tokenLimit("max_completion_tokens")
    sampling.maximumTokens = limit ?? sampling.maximumTokens ?? 16  // OpenAI's default

    generation = Generation(prompts: try fields.prompts(vocabularySize: vocabularySize), sampling: sampling)
    generation.promptField = "prompt"
    generation.grammar = try fields.grammar("response_format")
    generation.priority = try fields.integer("priority", in: Int64(Int32.min)...Int64(Int32.max)) ?? 0
    generation.cacheSalt = try fields.string("cache_salt", maximumBytes: 64) ?? ""
    generation.speculates = try fields.flag("speculate") ?? true
    generation.answers = try fields.integer("n", in: ChatRequest.answers) ?? 1
    generation.isStream = try fields.flag("stream") ?? false
    if limit != nil { generation.limitField = "max_completion_tokens" }
    includesUsage = try fields.streamOptions(isStream: generation.isStream)
    echoes = try fields.flag("echo") ?? false
    if echoes && logprobs != nil {
      throw APIError.invalid("echo with logprobs is not supported: prompts have no log probabilities", param: "echo")
    }
    if echoes, generation.prompts.contains(where: { if case .text = $0 { false } else { true } }) {
      throw APIError.invalid("echo needs prompts of text", param: "echo")
    }
  }
}

extension FieldReader {
  /// Text, token ids, or an array of either.
  fileprivate func prompts(vocabularySize: Int) throws -> [Generation.Prompt] {
    guard let value = self["prompt"] else { throw missing("prompt") }
    if let text = value.stringValue { return [.text(try checked(text))] }
    guard let list = value.arrayValue else { throw wrongPrompt }
    if list.isEmpty { throw APIError.invalid("prompt is empty", param: "prompt") }
    if list.allSatisfy({ $0.doubleValue != nil }) {
      return [.tokens(try tokenIDs(list, of: "prompt", below: vocabularySize))]
    }
    if list.count > Generation.maximumSequences {
      throw APIError.invalid(
        "prompt has \(list.count) prompts; \(Generation.maximumSequences) are the most", param: "prompt")
    }
    return try list.map { element in
      if let text = element.stringValue { return .text(try checked(text)) }
      guard let ids = element.arrayValue, !ids.isEmpty else { throw wrongPrompt }
      return .tokens(try tokenIDs(ids, of: "prompt", below: vocabularySize))
    }
  }

  private func checked(_ text: String) throws -> String {
    if text.isEmpty { throw APIError.invalid("prompt is empty", param: "prompt") }
    return text
  }

  private var wrongPrompt: APIError {
    .invalid("prompt must be a string, an array of token ids, or an array of those", param: "prompt")
  }
}
