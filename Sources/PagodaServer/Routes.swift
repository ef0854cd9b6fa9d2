// The routes, and the endpoints that need only a few lines.
import Foundation
import PagodaKit

extension Service {
  /// All routes: methods by path.
  static let routes: [String: [String: Work]] = routeTables.reduce(into: [:]) { all, table in
    all.merge(table) { $0.merging($1) { first, _ in first } }
  }

  /// A table for each file of endpoints. Two tables may have methods of one path, but not the same method
  /// (`HTTPTests.no_route_is_in_two_tables`).
  static let routeTables: [[String: [String: Work]]] = [
    PageFile.all.mapValues { ["GET": .page($0)] }, textRoutes, responseRoutes, embeddingRoutes, loraRoutes,
    ollamaRoutes, llamaRoutes, replicaRoutes, ModelHost.routes, ModelHost.fileRoutes, ModelHost.batchRoutes,
    ModelHost.conversationRoutes, ModelHost.libraryRoutes, ModelHost.toolRoutes,
  ]

  private static let textRoutes: [String: [String: Work]] = [
    "/status/events": ["GET": .stream { try $0.statusFeed.add($1) }],
    "/v1/chat/completions": ["POST": .json(isGeneration: true, .openAI) { try $0.chat($1) }],
    "/v1/completions": ["POST": .json(isGeneration: true, .openAI) { try $0.completions($1) }],
    "/v1/messages": ["POST": .json(isGeneration: true, .anthropic) { try $0.messages($1) }],
    "/v1/messages/count_tokens": ["POST": .json(isGeneration: false, .anthropic) { try $0.countTokens($1) }],
    "/tokenize": ["POST": .json(isGeneration: false, .openAI) { try $0.tokenize($1) }],
    "/tokenizer_info": ["GET": .immediate { $0.tokenizerInfo() }],
    "/detokenize": ["POST": .json(isGeneration: false, .openAI) { try $0.detokenize($1) }],
  ]

  private func chat(_ exchange: Exchange) throws {
    let request = try ChatRequest(exchange.request.body, models: models)
    try generate(request.generation, ChatFormat(request: request, tokens: tokens), exchange)
  }

  private func completions(_ exchange: Exchange) throws {
    let request = try CompletionRequest(
      exchange.request.body, models: models, vocabularySize: engine.info.vocabularySize)
    try generate(request.generation, CompletionFormat(request: request, tokens: tokens), exchange)
  }

  private func messages(_ exchange: Exchange) throws {
    let seal = guarding.seal(of: exchange.request)
    let request = try MessagesRequest(exchange.request.body, models: models, seal: seal)
    try generate(request.generation, MessagesFormat(request: request, seal: seal), exchange)
  }

  private func countTokens(_ exchange: Exchange) throws {
    let request = try MessagesRequest(
      exchange.request.body, models: models, seal: guarding.seal(of: exchange.request), counts: true)
    let count = try generator.encode(request.chat, called: "messages").ids.count
    exchange.reply(.whole(.json(.object(["input_tokens": .integer(Int64(count))]))))
  }

  func generate(_ generation: Generation, _ format: some AnswerFormat, _ exchange: Exchange) throws {
    var generation = generation
    exchange.record.begin(model: models.names[0])
    generation.request.shareID = guarding.shareID(of: exchange.request)
    generation.request.priority = guarding.priority(of: exchange.request, generation.request.priority)
    let salt = guarding.cacheSalt(of: exchange.request, generation.request.cacheSalt ?? "")
    generation.request.cacheSalt = salt
    if let peers, generation.request.lora == nil, let prompt = generation.prompts.first, generation.prompts.count == 1 {
      let ready = generation
      let ids = try generator.prepare(prompt, of: generation).ids
      let isFetched = peers.fetch(ids, cacheSalt: salt, trace: exchange.trace) { [self] in
        dispatch { [self] in
          do {
            try generator.run(ready, format: format, on: exchange, dispatch: dispatch)
          } catch {
            exchange.reply(.whole(APIError(any: error).response(format.errorShape)))
          }
        }
      }
      if isFetched { return }
    }
    try generator.run(generation, format: format, on: exchange, dispatch: dispatch)
  }

  private func tokenize(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .tokenize).withMedia(models)
    _ = try models.name(in: fields)
    let tools = try fields.toolList(isChat: true).functions  // checked beside a prompt too
    let variables = try fields.templateVariables()
    let ids: [Int32]
    if let list = try fields.objects("messages", maximum: Conversation.maximumMessages) {
      if fields["prompt"] != nil { throw APIError.invalid("prompt and messages exclude each other", param: "prompt") }
      let chat = try Conversation(openAI: list).prompt(tools: tools, variables: variables)
      ids = try engine.encode(chat).ids
    } else {
      guard let text = try fields.string("prompt") else { throw fields.missing("prompt") }
      let isWhole = try fields.flag("add_special_tokens") ?? true
      let all = try engine.encode(.text(text), thinking: nil).ids
      ids = try isWhole ? all : engine.tokenizer?.encode(text, parsingSpecialTokens: true) ?? all
    }
    var members: [JSONValue.Member] = [
      .init(key: "count", value: .integer(Int64(ids.count))),
      .init(key: "max_model_len", value: .integer(Int64(engine.info.plan.maximumModelLength))),
      .init(key: "tokens", value: .array(ids.map { .integer(Int64($0)) })),
    ]
    if try fields.flag("return_token_strs") ?? false {
      members.append(.init(key: "token_strs", value: .array(ids.map { .string(tokens.text(of: $0)) })))
    }
    exchange.reply(.whole(.json(.object(members))))
  }

  /// Tokenizer information in vLLM's format; lm-eval requests it before it scores texts.
  private func tokenizerInfo() -> HTTPResponse {
    func spelling(_ id: Int32?) -> JSONValue { id.map { .string(tokens.text(of: $0)) } ?? .null }
    let end = engine.info.endOfTextTokens.first
    return .json(
      .object([
        "tokenizer_class": .string("PagodaTokenizer"), "eos_token": spelling(end),
        "bos_token": spelling(engine.tokenizer?.startTokens.first), "pad_token": spelling(end),
        "model_max_length": .integer(Int64(engine.info.plan.maximumModelLength)),
      ]))
  }

  private func detokenize(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .detokenize)
    _ = try models.name(in: fields)
    guard let values = try fields.array("tokens") else { throw fields.missing("tokens") }
    guard let tokenizer = engine.tokenizer else { throw PagodaError.unsupported("this model has no tokenizer") }
    let ids = try fields.tokenIDs(values, of: "tokens", below: engine.info.vocabularySize)
    let text = try tokenizer.decode(ids, skippingSpecialTokens: try fields.flag("skip_special_tokens") ?? false)
    exchange.reply(.whole(.json(.object(["prompt": .string(text)]))))
  }
}
