// The routes around /v1/responses: stored responses, counts, cancelling, and compaction.
import Foundation
import PagodaKit

extension Service {
  static let responseRoutes: [String: [String: Work]] = [
    "/v1/responses": ["POST": .json(isGeneration: true, .openAI) { try $0.respond($1) }],
    "/v1/responses/input_tokens": ["POST": .json(isGeneration: false, .openAI) { try $0.countInput($1) }],
    "/v1/responses/compact": ["POST": .json(isGeneration: true, .openAI) { try $0.compact($1) }],
  ]

  private func respond(_ exchange: Exchange) throws {
    let request = try read(exchange)
    let format = ResponsesFormat(
      request: request, tokens: tokens, store: responses, conversations: conversations,
      owner: guarding.owner(of: exchange.request))
    if request.isBackground { return try respondLater(format, exchange) }
    try generate(request.generation, format, exchange)
  }

  private func read(_ exchange: Exchange, isCompaction: Bool = false) throws -> ResponsesRequest {
    try ResponsesRequest(
      exchange.request.body, models: models, store: responses, conversations: conversations,
      owner: guarding.owner(of: exchange.request), seal: guarding.seal(of: exchange.request), isCompaction: isCompaction
    )
  }

  /// Answers at once; the response is generated on an exchange of its own, which no client can abandon, and stored.
  private func respondLater(_ format: ResponsesFormat, _ exchange: Exchange) throws {
    let (store, owner, items) = (responses, format.owner, format.request.items)
    let queued = format.object([], completion: nil, status: "queued")
    let inner = Exchange(exchange.request, action: exchange.action, maximumBody: .max, trace: exchange.trace)
    inner.attach { [self] in
      switch inner.next() {
      case .wait: return
      case .send(.whole(let response)):
        inner.isWhole = true
        if response.status != 200 {
          let body = JSONValue.parse(String(decoding: response.body, as: UTF8.self))?["error"]
          let error = APIError.invalid(body?["message"]?.stringValue ?? "", code: body?["code"]?.stringValue)
          store.add(format.object([], completion: nil, error: error), input: items, owner: owner)
        }
      case .send(.stream), .drop:
        // Cancelled before it began: otherwise the answer so far is stored when the engine has stopped.
        if store.find(format.id, owner: owner)?.response["status"] == .string("queued") {
          store.add(format.object([], completion: nil, status: "cancelled"), input: items, owner: owner)
        }
      }
      inner.complete()
      finished(inner)
    }
    store.add(queued, input: items, owner: owner, isLasting: false)
    store.begin(format.id, owner: owner) { inner.abandon() }
    do {
      try generate(format.request.generation, format, inner)
    } catch {
      store.end(format.id)
      _ = store.delete(format.id, owner: owner)
      throw error
    }
    exchange.reply(.whole(.json(queued, headers: format.noticeHeaders)))
  }

  private func countInput(_ exchange: Exchange) throws {
    let request = try read(exchange)
    let count = try request.generation.prompts.reduce(0) {
      try $0 + generator.prepare($1, of: request.generation).ids.count
    }
    exchange.reply(
      .whole(
        .json(.object(["object": .string("response.input_tokens"), "input_tokens": .integer(Int64(count))]))))
  }

  /// A conversation as the user's messages and a summary by the model, for a client whose context is full.
  private func compact(_ exchange: Exchange) throws {
    let request = try read(exchange, isCompaction: true)
    try generate(request.generation, CompactFormat(request: request), exchange)
  }
}

/// Stored responses of all models.
extension ModelHost {
  /// `/v1/responses/ID` and the routes under it.
  func responseRoute(_ path: String) -> [String: Service.Work]? {
    let prefix = "/v1/responses/"
    guard path.hasPrefix(prefix) else { return nil }
    let parts = path.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard let id = parts.first, !id.isEmpty else { return nil }
    switch parts.dropFirst().first {
    case nil:
      return [
        "GET": .server { .json(try $0.retrieve(id, $1)) },
        "DELETE": .server { .json(try $0.deleteResponse(id, $1)) },
      ]
    case "input_items" where parts.count == 2: return ["GET": .server { .json(try $0.inputItems(id, $1)) }]
    case "cancel" where parts.count == 2: return ["POST": .server { .json(try $0.cancelResponse(id, $1)) }]
    default: return nil
    }
  }

  private func stored(_ id: String, _ request: HTTPRequest) throws -> ResponseStore.Entry {
    guard let entry = responses.find(id, owner: guarding.owner(of: request)) else {
      throw APIError.invalid(
        "Response with id '\(id.prefix(100))' not found.", param: "response_id", code: "not_found", status: 404)
    }
    return entry
  }

  private func retrieve(_ id: String, _ request: HTTPRequest) throws -> JSONValue {
    if request.parameter("stream") == "true" {
      throw APIError.invalid(
        "stored responses cannot be streamed; fetch the response until it has ended", param: "stream")
    }
    return try stored(id, request).response
  }

  private func deleteResponse(_ id: String, _ request: HTTPRequest) throws -> JSONValue {
    _ = try stored(id, request)
    let isDeleted = responses.delete(id, owner: guarding.owner(of: request))
    return .object(["id": .string(id), "object": .string("response"), "deleted": .bool(isDeleted)])
  }

  private func inputItems(_ id: String, _ request: HTTPRequest) throws -> JSONValue {
    let items = Array(try stored(id, request).input.reversed())  // the latest first, as OpenAI's
    return .object([
      "object": .string("list"), "data": .array(items), "first_id": items.first?["id"] ?? .null,
      "last_id": items.last?["id"] ?? .null, "has_more": .bool(false),
    ])
  }

  /// Ends an answer that is being generated; its stream reports it.
  private func cancelResponse(_ id: String, _ request: HTTPRequest) throws -> JSONValue {
    let owner = guarding.owner(of: request)
    if responses.cancel(id, owner: owner) {
      if let entry = responses.find(id, owner: owner) { return entry.response.with("status", .string("cancelled")) }
      return .object(["id": .string(id), "object": .string("response"), "status": .string("cancelled")])
    }
    _ = try stored(id, request)
    throw APIError.invalid("the response has ended already, so it cannot be cancelled", param: "response_id")
  }
}

/// The answer of /v1/responses/compact.
struct CompactFormat: AnswerFormat {
  static let instruction = """
    Summarise the conversation so far for an assistant who will continue it without having seen it: the aim, what was decided \
    and done, results that matter, and what is left to do. Write only the summary.
    """

  let request: ResponsesRequest
  let id = randomID("resp_")

  var errorShape: APIError.Shape { .openAI }
  var unknownFields: [String] { request.unknownFields }

  // Never used: compaction does not stream.
  func encoder(promptTokens: Int) -> ResponsesEncoder {
    ResponsesEncoder(
      format: ResponsesFormat(request: request, tokens: TokenTexts(tokenizer: nil, endOfText: [])))
  }

  func response(_ answers: [Answer]) -> JSONValue {
    let people = request.items.filter { $0["type"]?.stringValue == "message" && $0["role"]?.stringValue == "user" }
    let summary = ResponsesFormat.message(randomID("msg_"), answers[0].text, .array([]), .completed)
    return .object([
      "id": .string(id), "object": .string("response.compaction"),
      "created_at": .integer(Int64(Date().timeIntervalSince1970)), "output": .array(people + [summary]),
      "usage": answers[0].completion.map { ResponsesFormat.usage($0.usage, answers[0].reasoningTokens) } ?? .null,
    ])
  }
}
