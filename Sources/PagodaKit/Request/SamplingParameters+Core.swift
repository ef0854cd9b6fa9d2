// Conversion of SamplingParameters for the core, with the model's generation_config.json filling in nil values.
internal import CxxCore

/// The values of `generation_config.json` that concern sampling.
struct GenerationDefaults: Sendable {
  var temperature: Double?
  var topK: Int?
  var topP: Double?
  var minP: Double?
  var repetitionPenalty: Double?
  var presencePenalty: Double?
  var frequencyPenalty: Double?

  /// `do_sample: false` means greedy, regardless of the temperature next to it.
  init(json: String) {
    guard let config = JSONValue.parse(json) else { return }
    temperature = config["do_sample"]?.boolValue == false ? 0 : config["temperature"]?.doubleValue
    topK = config["top_k"]?.intValue.map { Int($0) }
    topP = config["top_p"]?.doubleValue
    minP = config["min_p"]?.doubleValue
    repetitionPenalty = config["repetition_penalty"]?.doubleValue
    presencePenalty = config["presence_penalty"]?.doubleValue
    frequencyPenalty = config["frequency_penalty"]?.doubleValue
  }
}

extension Request.Grammar {
  var core: pagoda.GrammarSpec {
    switch self {
    case .jsonObject: pagoda.GrammarSpec(kind: .json_object, schema: "")
    case .jsonSchema(let schema): pagoda.GrammarSpec(kind: .json_schema, schema: std.string(Self.ordered(schema)))
    case .regularExpression(let text): pagoda.GrammarSpec(kind: .regex, schema: std.string(text))
    case .choice(let texts):
      pagoda.GrammarSpec(
        kind: .choice, schema: std.string(JSONValue.array(texts.map { JSONValue.string($0) }).text))
    case .gbnf(let text): pagoda.GrammarSpec(kind: .gbnf, schema: std.string(text))
    }
  }

  private static func ordered(_ schema: String) -> String {
    guard schema.contains("\"x-order\""), let value = JSONValue.parse(schema) else { return schema }
    return value.withOrderedProperties().text
  }
}

extension SamplingParameters {
  func core(defaults: GenerationDefaults, tokenizer: Tokenizer?) throws -> pagoda.SamplingParams {
    if maximumTokens == 0 { throw RefusedField("max_tokens", .invalidArgument("max_tokens must be at least 1, got 0")) }
    var params = pagoda.SamplingParams()
    params.temperature = Float(temperature ?? defaults.temperature ?? 0)
    params.top_k = Int32(clamping: topK ?? defaults.topK ?? 0)
    params.top_p = Float(topP ?? defaults.topP ?? 1)
    params.min_p = Float(minP ?? defaults.minP ?? 0)
    params.top_n_sigma = Float(topNSigma ?? 0)
    setRules(&params)
    params.repetition_penalty = Float(repetitionPenalty ?? defaults.repetitionPenalty ?? 1)
    params.presence_penalty = Float(presencePenalty ?? defaults.presencePenalty ?? 0)
    params.frequency_penalty = Float(frequencyPenalty ?? defaults.frequencyPenalty ?? 0)
    for (id, bias) in logitBias.sorted(by: { $0.key < $1.key }) {
      params.logit_bias.push_back(pagoda.LogitBias(token_id: id, bias: Float(bias)))
    }
    params.has_seed = seed != nil
    params.seed = seed ?? 0
    params.max_tokens = Int32(clamping: maximumTokens ?? 0)
    params.min_tokens = Int32(clamping: minimumTokens)
    params.ignore_eos = ignoresEndOfText
    for id in stopTokens { params.stop_ids.push_back(id) }
    for text in stopStrings { params.stop.push_back(std.string(text)) }
    for ids in try bannedTokens + bannedTokens(tokenizer) {
      params.banned.push_back(pagoda.BannedSequence(ids: .init(ids)))
    }
    params.thinking_budget = Int32(clamping: thinkingBudget ?? -1)
    params.num_top_logprobs = Int32(clamping: topLogProbabilities ?? -1)
    return params
  }

  private func setRules(_ params: inout pagoda.SamplingParams) {
    if let xtc { (params.xtc_probability, params.xtc_threshold) = (Float(xtc.probability), Float(xtc.threshold)) }
    if let dynamic = dynamicTemperature {
      (params.dynatemp_range, params.dynatemp_exponent) = (Float(dynamic.range), Float(dynamic.exponent))
    }
    guard let dry else { return }
    params.dry.multiplier = Float(dry.multiplier)
    params.dry.base = Float(dry.base)
    params.dry.allowed_length = Int32(clamping: dry.allowedLength)
    params.dry.window = dry.window.map { Int32(clamping: $0) } ?? -1
    for text in dry.breakers { params.dry.breakers.push_back(std.string(text)) }
  }

  /// The bad words as tokens: at the start of a text, and after a space if the tokens differ. (vLLM omits the second
  /// form if it has a different number of tokens, and then lets the word through.)
  private func bannedTokens(_ tokenizer: Tokenizer?) throws -> [[Int32]] {
    if badWords.isEmpty { return [] }
    guard let tokenizer else {
      throw RefusedField(
        "bad_words", .invalidArgument("bad_words need a tokenizer, and this model folder has none"))
    }
    return try badWords.flatMap { word in
      let bare = String(word.drop { $0 == " " })
      if bare.isEmpty { return [try tokenizer.encode(word)] }
      let (first, later) = (try tokenizer.encode(bare), try tokenizer.encode(" " + bare))
      return later.suffix(first.count).elementsEqual(first) ? [first] : [first, later]
    }
  }
}
