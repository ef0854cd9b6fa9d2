// Routes of llama.cpp's and LM Studio's servers that their clients use.
import PagodaKit

extension Service {
  static let llamaRoutes: [String: [String: Work]] = [
    "/completion": ["POST": .json(isGeneration: true, .openAI) { try $0.llama($1, isInfill: false) }],
    "/infill": ["POST": .json(isGeneration: true, .openAI) { try $0.llama($1, isInfill: true) }],
    "/props": ["GET": .immediate { $0.properties() }],
    "/slots": ["GET": .immediate { $0.slots() }],
  ]

  private func llama(_ exchange: Exchange, isInfill: Bool) throws {
    let request = try LlamaRequest(
      exchange.request.body, models: models, vocabularySize: engine.info.vocabularySize, isInfill: isInfill)
    try generate(request.generation, LlamaFormat(request: request, model: models.names[0], tokens: tokens), exchange)
  }

  private func properties() -> HTTPResponse {
    let plan = engine.info.plan
    func spelling(_ id: Int32?) -> JSONValue { .string(id.map { tokens.text(of: $0) } ?? "") }
    return .json(
      .object([
        "default_generation_settings": .object(["n_ctx": .integer(Int64(plan.maximumModelLength))]),
        "total_slots": .integer(Int64(plan.maximumSequences)), "model_alias": .string(models.names[0]),
        "model_path": .string(replica.modelPath), "bos_token": spelling(engine.tokenizer?.startTokens.first),
        "eos_token": spelling(engine.info.endOfTextTokens.first),
        "modalities": .object(["vision": .bool(false), "audio": .bool(false)]),
        "build_info": .string("pagoda \(PagodaVersion.current)"),
      ]))
  }

  /// Sequences have no fixed slots here: as many slots are shown as busy as sequences run. No prompts are shown.
  private func slots() -> HTTPResponse {
    let running = engine.statistics.running
    let length = Int64(engine.info.plan.maximumModelLength)
    let list = (0..<engine.info.plan.maximumSequences).map { index in
      JSONValue.object([
        "id": .integer(Int64(index)), "n_ctx": .integer(length), "is_processing": .bool(index < running),
      ])
    }
    return .json(.array(list))
  }
}
