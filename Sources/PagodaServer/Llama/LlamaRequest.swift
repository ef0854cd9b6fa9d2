// LlamaRequest: the bodies of llama.cpp's /completion and /infill.
import PagodaKit

struct LlamaRequest: Sendable {
  var generation: Generation
  var wantsTokens: Bool
  var unknownFields: [String]

  /// `isInfill`: requests the text between two texts.
  init(_ body: [UInt8], models: ServedModels, vocabularySize: Int, isInfill: Bool) throws {
    let fields = try FieldReader(body: body, table: isInfill ? .llamaInfill : .llamaCompletion)
    unknownFields = fields.unknown
    _ = try models.name(in: fields)
    wantsTokens = try fields.flag("return_tokens") ?? false
    let prompt = try isInfill ? fields.infill() : fields.llamaPrompt(vocabularySize)
    generation = Generation(prompts: [prompt], sampling: try fields.llamaSampling())
    generation.limitField = "n_predict"
    generation.promptField = isInfill ? "input_prefix" : "prompt"
    generation.isStream = try fields.flag("stream") ?? false
    if let schema = fields["json_schema"] {
      guard schema.objectValue != nil else {
        throw APIError.invalid("json_schema must be an object", param: "json_schema")
      }
      (generation.request.grammar, generation.grammarField) = (.jsonSchema(schema.text), "json_schema")
    }
    if let grammar = try fields.string("grammar"), !grammar.isEmpty {
      if generation.request.grammar != nil {
        throw APIError.invalid("grammar and json_schema exclude each other", param: "grammar")
      }
      (generation.request.grammar, generation.grammarField) = (.gbnf(grammar), "grammar")
    }
  }
}

extension FieldReader {
  fileprivate func llamaPrompt(_ vocabularySize: Int) throws -> Generation.Prompt {
    guard let value = self["prompt"] else { throw missing("prompt") }
    if let text = value.stringValue, !text.isEmpty { return .text(text) }
    guard let list = value.arrayValue, !list.isEmpty, list.allSatisfy({ $0.doubleValue != nil }) else {
      throw APIError.invalid("prompt must be a string or an array of token ids", param: "prompt")
    }
    return .tokens(try tokenIDs(list, of: "prompt", below: vocabularySize))
  }

  fileprivate func infill() throws -> Generation.Prompt {
    let before = try (string("input_prefix") ?? "") + (string("prompt") ?? "")
    return .middle(prefix: before, suffix: try string("input_suffix") ?? "")
  }

  /// The options under the names that sampling has elsewhere.
  fileprivate func llamaSampling() throws -> SamplingParameters {
    let renamed = ["n_predict": "max_tokens", "repeat_penalty": "repetition_penalty", "n_probs": "top_logprobs"]
    var given: [JSONValue.Member] = []
    for member in members where member.value != .null {
      let key = renamed[member.key] ?? member.key
      // Below 0 llama.cpp means "as much as fits", and a seed of 2^32 - 1 means any.
      if member.key == "n_predict" || member.key == "seed", let number = member.value.doubleValue, number < 0 {
        continue
      }
      if member.key == "seed", member.value == .integer(0xFFFF_FFFF) { continue }
      if member.key == "n_probs", member.value == .integer(0) { continue }
      if member.key == "stop", member.value == .array([]) { continue }
      given.append(.init(key: key, value: member.value))
    }
    do {
      return try FieldReader(given).sampling(FieldTable.llamaSampling.union(renamed.values))
    } catch let error as FieldError {
      let name = renamed.first { $0.value == error.field }?.key ?? error.field
      throw APIError.invalid(error.message.replacing(error.field, with: name), param: name)
    }
  }
}

extension FieldTable {
  static let llamaSampling: Set<String> = rules.union([
    "temperature", "top_k", "top_p", "min_p", "presence_penalty", "frequency_penalty", "seed", "stop", "ignore_eos",
    "logit_bias",
  ])
  private static let llamaKnown = llamaSampling.union([
    "model", "n_predict", "repeat_penalty", "n_probs", "stream", "json_schema", "grammar", "return_tokens",
  ])
  /// Fields without an effect on the answer here.
  private static let llamaIgnored: Set<String> = [
    "cache_prompt", "id_slot", "n_keep", "timings_per_token", "response_fields", "t_max_predict_ms", "n_indent",
  ]

  static let llamaCompletion = FieldTable(
    known: llamaKnown.union(["prompt"]), ignored: llamaIgnored,
    refused: refusedSamplers.merging(["image_data": [.array([])], "lora": [.array([])]]) { $1 })

  static let llamaInfill = FieldTable(
    known: llamaKnown.union(["prompt", "input_prefix", "input_suffix"]), ignored: llamaIgnored,
    refused: refusedSamplers.merging(["input_extra": [.array([])], "lora": [.array([])]]) { $1 })
}
