// Replica: the state of one server for routers: identity, cached part of a prompt, queue.
import Foundation
import PagodaKit

/// A server's identity among others with the same model.
struct Replica: Sendable {
  /// Sent as `x-pagoda-replica` with every answer; nil sends none.
  var name: String?
  /// The model's origin, as the user gave it.
  var modelPath: String
  var fingerprint: String?

  /// A router that relies on one version, or on bit-identical answers, can require that with its requests; a server
  /// that differs refuses them with both values.
  func check(_ request: HTTPRequest) throws {
    for version in request.values("x-pagoda-expect-version") where version != PagodaVersion.current {
      throw Self.mismatch("version", expected: version, actual: PagodaVersion.current)
    }
    for value in request.values("x-pagoda-expect-fingerprint") where value != fingerprint {
      throw Self.mismatch("fingerprint", expected: value, actual: fingerprint ?? "unknown")
    }
  }

  private static func mismatch(_ what: String, expected: String, actual: String) -> APIError {
    APIError.invalid(
      "the request expects a replica of \(what) '\(expected.prefix(200))'; this one has \(what) '\(actual)'",
      code: "\(what)_mismatch", status: 412)
  }
}

extension ModelHost {
  /// What a router without a key learns: the name that requests use, under the keys that sglang-router reads.
  var nameForRouters: HTTPResponse {
    let name = JSONValue.string(current.names.names[0])
    return .json(.object(["model_path": name, "served_model_name": name]))
  }
}

extension Service {
  static let replicaRoutes: [String: [String: Work]] = [
    "/server_info": ["GET": .immediate { .json($0.serverInfo) }],
    "/model_info": ["GET": .immediate { .json($0.modelInfo) }],
    "/v1/prefix": ["POST": .json(isGeneration: false, .openAI) { try $0.prefix($1) }],
  ]

  private var identity: [JSONValue.Member] {
    [
      .init(key: "version", value: .string(PagodaVersion.current)),
      .init(key: "fingerprint", value: replica.fingerprint.map { .string($0) } ?? .null),
      .init(key: "replica", value: replica.name.map { .string($0) } ?? .null),
    ]
  }

  private var load: [JSONValue.Member] {
    let now = engine.statistics
    return [
      .init(key: "running", value: .integer(Int64(now.running))),
      .init(key: "queue_length", value: .integer(Int64(now.waiting))),
      .init(key: "free_blocks", value: .integer(now.freeBlocks)),
      .init(key: "total_blocks", value: .integer(now.blocks)),
    ]
  }

  /// The names of the model under the keys that sglang-router reads.
  private var model: [JSONValue.Member] {
    [
      .init(key: "model_path", value: .string(replica.modelPath)),
      .init(key: "served_model_name", value: .string(models.names[0])),
      .init(key: "max_model_len", value: .integer(Int64(engine.info.plan.maximumModelLength))),
    ]
  }

  private var serverInfo: JSONValue {
    let health = Health(engine.statistics, isDraining: admission.draining)
    let limit = engine.info.plan.maximumSequences
    return .object(
      identity + model + [
        .init(key: "status", value: .string(health.status)),
        .init(key: "max_running_requests", value: .integer(Int64(limit))),
      ] + load)
  }

  private var modelInfo: JSONValue {
    let info = engine.info
    return .object(
      identity + model + [
        .init(key: "context_length", value: .integer(Int64(info.contextLength))),
        .init(key: "is_generation", value: .bool(true)),
        .init(key: "architecture", value: .string(info.architecture)),
        .init(key: "weight_dtype", value: .string(info.weightDType)),
        .init(key: "kv_dtype", value: .string(info.kvDType)),
        .init(key: "vocab_size", value: .integer(Int64(info.vocabularySize))),
        .init(key: "block_size", value: .integer(Int64(info.plan.blockSize))),
      ])
  }

  /// Reads the body as the endpoint that it is for would: the tokens, and so the answer, are exact.
  private func prefix(_ exchange: Exchange) throws {
    let body = exchange.request.body
    let generation = try prefixRequest(
      body, owner: guarding.owner(of: exchange.request), seal: guarding.seal(of: exchange.request))
    guard generation.prompts.count == 1 else {
      throw APIError.invalid("prompt has \(generation.prompts.count) prompts; one at a time", param: "prompt")
    }
    let ids = try generator.prepare(generation.prompts[0], of: generation).ids
    let match = try engine.findPrefix(
      of: ids, cacheSalt: guarding.cacheSalt(of: exchange.request, generation.request.cacheSalt ?? ""))
    exchange.reply(
      .whole(
        .json(
          .object(
            [
              .init(key: "prompt_tokens", value: .integer(Int64(ids.count))),
              .init(key: "matched_tokens", value: .integer(Int64(match.matchedTokens))),
              .init(key: "cached_tokens", value: .integer(Int64(match.cachedTokens))),
            ] + load + identity))))
  }

  private func prefixRequest(_ body: [UInt8], owner: String, seal: ReasoningSeal) throws -> Generation {
    let fields = try FieldReader(body: body, table: .prefix)
    if fields["messages"] != nil && fields["prompt"] != nil {
      throw APIError.invalid("messages and prompt exclude each other", param: "messages")
    }
    let kinds = ["chat", "completions", "responses", "messages"]
    let guess = fields["messages"] != nil ? "chat" : fields["input"] != nil ? "responses" : "completions"
    switch try fields.choice("api", of: kinds) ?? guess {
    case "chat": return try ChatRequest(body, models: models).generation
    case "responses":
      return try ResponsesRequest(
        body, models: models, store: responses, conversations: conversations, owner: owner, seal: seal
      ).generation
    case "messages": return try MessagesRequest(body, models: models, seal: seal, counts: true).generation
    default: return try CompletionRequest(body, models: models, vocabularySize: engine.info.vocabularySize).generation
    }
  }
}

extension FieldTable {
  /// Only `api` is specific to this route; the rest is read, or refused, by the endpoint that the body is for.
  static let prefix = FieldTable(known: ["api"], ignored: [], refused: [:])
}
