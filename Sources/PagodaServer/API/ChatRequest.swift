// ChatRequest: the body of /v1/chat/completions.
import PagodaKit

struct ChatRequest: Sendable {
  var model: String
  var generation: Generation
  var includesUsage = false
  var wantsLogprobs = false
  var promptLogprobs: Int?
  /// Calls are requested and answered in OpenAI's legacy format.
  var usesLegacyFunctions: Bool
  var unknownFields: [String]

  static let answers = Int64(1)...Int64(Generation.maximumSequences)

  init(_ body: [UInt8], models: ServedModels) throws {
    let fields = try FieldReader(body: body, table: .chat).withMedia(models)
    unknownFields = fields.unknown
    model = try models.name(in: fields)
    guard let list = try fields.objects("messages", maximum: Conversation.maximumMessages), !list.isEmpty else {
      throw fields.missing("messages")
    }
    var conversation = try Conversation(openAI: list)
    let continued = try fields.continuesFinalMessage() ? conversation.takeContinued() : nil
    let legacy = try fields.legacyFunctions()
    usesLegacyFunctions = legacy != nil
    let toolList = try legacy == nil ? fields.toolList(isChat: true) : ToolList()
    unknownFields += toolList.ignored + (fields.media?.ignored ?? [])
    let (tools, forced) = try legacy ?? fields.toolChoice(toolList.functions)
    var thinking = Thinking()
    thinking.apply(effort: try fields.choice("reasoning_effort", of: Thinking.efforts))
    thinking.isOn = try fields.flag("enable_thinking") ?? thinking.isOn
    let variables = thinking.variables(beside: try fields.templateVariables(), forced: forced, continued: continued)

    var sampling = try fields.sampling(FieldTable.sampling)
    sampling.thinkingBudget = sampling.thinkingBudget ?? thinking.budget
    let limit = try fields.tokenLimit("max_completion_tokens")
    sampling.maximumTokens = limit ?? sampling.maximumTokens
    wantsLogprobs = try fields.flag("logprobs") ?? false
    if let count = try fields.integer("top_logprobs", in: 0...20) {
      if !wantsLogprobs && count > 0 {
        throw APIError.invalid("top_logprobs needs logprobs to be true", param: "top_logprobs")
      }
      if wantsLogprobs { sampling.topLogProbabilities = count }
    } else if wantsLogprobs {
      sampling.topLogProbabilities = 0
    }

    generation = Generation(
      prompts: [.chat(conversation.prompt(tools: tools, variables: variables))], sampling: sampling)
    generation.answers = try fields.integer("n", in: Self.answers) ?? 1
    generation.isStream = try fields.flag("stream") ?? false
    generation.tools = tools
    generation.forcedCall = forced
    generation.toolList = toolList
    generation.allowsParallelCalls = try legacy == nil && fields.allowsParallelCalls()
    generation.continued = continued
    generation.request.grammar = try fields.grammar("response_format")
    if let guided = try fields.guidedGrammar() { (generation.request.grammar, generation.grammarField) = guided }
    try generation.readCommon(fields, models)
    generation.request.speculates = try fields.flag("speculate") ?? true
    generation.prediction = try fields.prediction()
    if limit != nil { generation.limitField = "max_completion_tokens" }
    try generation.checkContinued()
    includesUsage = try fields.streamOptions(isStream: generation.isStream)
    if try fields.choice("truncation", of: ["disabled", "auto"]) == "auto" { generation.contextPolicy = .trim }
    if try generation.isStream && fields.flag("return_progress") == true {
      generation.request.promptProgressInterval = 0.25
    }
    promptLogprobs = try fields.promptLogprobs(isStream: generation.isStream)
    generation.request.promptLogProbabilities = promptLogprobs
  }
}

extension FieldReader {
  /// vLLM's two fields: the last message is the start of the answer, or a separate turn.
  fileprivate func continuesFinalMessage() throws -> Bool {
    let continues = try flag("continue_final_message") ?? false
    let adds = try flag("add_generation_prompt") ?? !continues
    if continues == adds {
      throw APIError.invalid(
        continues
          ? "continue_final_message and add_generation_prompt exclude each other"
          : "add_generation_prompt can be false only with continue_final_message",
        param: continues ? "continue_final_message" : "add_generation_prompt")
    }
    return continues
  }

  /// OpenAI's predicted output: `{"type": "content", "content": ...}`.
  fileprivate func prediction() throws -> String? {
    guard let prediction = try object("prediction") else { return nil }
    guard try prediction.choice("type", of: ["content"]) != nil else { throw prediction.missing("type") }
    guard let text = try prediction.content() else { throw prediction.missing("content") }
    return text
  }

  /// Whether a stream ends with a chunk of usage.
  func streamOptions(isStream: Bool) throws -> Bool {
    guard let options = try object("stream_options") else { return false }
    if !isStream { throw APIError.invalid("stream_options needs stream to be true", param: "stream_options") }
    return try options.flag("include_usage") ?? false
  }
}
