// /v1/rerank in vLLM's format: documents by similarity to a query, or by the judgement of a model trained for it.
import Foundation
import PagodaKit

extension Service {
  func rerank(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .rerank)
    let request = try RerankRequest(fields, model: try models.name(in: fields))
    try Self.checkCount(request.documents.count, "documents")
    let headers = Self.notices(fields.unknown)
    if reranking.isYesNo(modelNames: models.names + [replica.modelPath]) {
      let prompt = try YesNoPrompt(engine.tokenizer)
      let documents = try request.documents.map {
        try prompt.tokens(request.instruction ?? YesNoPrompt.instruction, request.query, $0)
      }
      try Reranker.run(prompt, documents, priority: request.priority, on: exchange, of: self) { scores in
        .json(
          request.answer(scores.map(\.score), tokens: scores.reduce(0) { $0 + $1.promptTokens }), headers: headers)
      }
      return
    }
    let inputs =
      try [Embedder.Input(tokens: engine.embeddingTokens(of: request.query), field: "query")]
      + request.documents.enumerated().map {
        .init(tokens: try engine.embeddingTokens(of: $1), field: "documents[\($0)]")
      }
    try Embedder.run(inputs, pooling: pooling, priority: request.priority, on: exchange, of: self, shape: .openAI) {
      vectors in
      let scores = vectors.dropFirst().map { vectors[0].similarity(to: $0) }
      return .json(request.answer(scores, tokens: vectors.reduce(0) { $0 + $1.tokenCount }), headers: headers)
    }
  }
}

private struct RerankRequest {
  var model: String
  var query: String
  var instruction: String?
  var documents: [String]
  var priority: Int
  private var count: Int
  private var showsDocuments: Bool

  init(_ fields: FieldReader, model: String) throws {
    self.model = model
    guard let query = try fields.string("query") else { throw fields.missing("query") }
    guard let list = try fields.array("documents"), !list.isEmpty else { throw fields.missing("documents") }
    self.query = query
    documents = try list.enumerated().map { index, value in
      guard let text = value.stringValue ?? value["text"]?.stringValue else {
        throw APIError.invalid(
          "documents[\(index)] must be a string or an object with text", param: "documents[\(index)]")
      }
      return text
    }
    priority = try fields.priority()
    instruction = try fields.string("instruction")
    count = try fields.integer("top_n", in: 0...Int64(Int32.max)) ?? 0
    showsDocuments = try fields.flag("return_documents") ?? true
  }

  /// The best first.
  func answer(_ scores: [Double], tokens: Int) -> JSONValue {
    let order = scores.indices.sorted { scores[$0] != scores[$1] ? scores[$0] > scores[$1] : $0 < $1 }
    let results = order.prefix(count > 0 ? count : scores.count).map { index in
      var members: [JSONValue.Member] = [.init(key: "index", value: .integer(Int64(index)))]
      if showsDocuments {
        members.append(.init(key: "document", value: .object(["text": .string(documents[index])])))
      }
      members.append(.init(key: "relevance_score", value: .number(scores[index])))
      return JSONValue.object(members)
    }
    let usage = JSONValue.object(["prompt_tokens": .integer(Int64(tokens)), "total_tokens": .integer(Int64(tokens))])
    return .object([
      "id": .string(randomID("rerank-")), "model": .string(model), "usage": usage, "results": .array(results),
    ])
  }
}
