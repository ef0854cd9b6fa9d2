// /v1/embeddings in OpenAI's shape, /api/embed in Ollama's.
import Foundation
import PagodaKit

extension Service {
  static let embeddingRoutes: [String: [String: Work]] = [
    "/v1/embeddings": ["POST": .json(isGeneration: true, .openAI) { try $0.embeddings($1) }],
    "/v1/rerank": ["POST": .json(isGeneration: true, .openAI) { try $0.rerank($1) }],
    "/rerank": ["POST": .json(isGeneration: true, .openAI) { try $0.rerank($1) }],
    "/api/embed": ["POST": .json(isGeneration: true, .ollama) { try $0.ollamaEmbed($1) }],
    "/api/embeddings": ["POST": .json(isGeneration: true, .ollama) { try $0.ollamaEmbeddings($1) }],
  ]

  static let maximumInputs = 2048

  private func embeddings(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .embeddings)
    let model = try models.name(in: fields)
    let inputs = try embeddingInputs(fields, "input")
    let isBase64 = try fields.choice("encoding_format", of: ["float", "base64"]) == "base64"
    let dimensions = try fields.integer("dimensions", in: 1...Int64(engine.info.hiddenSize))
    let isNormalized = try fields.flag("normalize") ?? true
    let priority = try fields.priority()
    let headers = Self.notices(fields.unknown)
    try Embedder.run(inputs, pooling: pooling, priority: priority, on: exchange, of: self, shape: .openAI) { vectors in
      let data = vectors.enumerated().map { index, vector in
        let kept = isNormalized ? vector.normalized(dimensions: dimensions).values : vector.cut(dimensions)
        return JSONValue.object([
          "object": .string("embedding"), "index": .integer(Int64(index)),
          "embedding": isBase64 ? .string(kept.base64) : kept.json,
        ])
      }
      return .json(
        .object([
          "object": .string("list"), "data": .array(data), "model": .string(model),
          "usage": Self.usage(vectors),
        ]), headers: headers)
    }
  }

  /// Texts or token ids, one or several.
  private func embeddingInputs(_ fields: FieldReader, _ key: String) throws -> [Embedder.Input] {
    guard let value = fields[key] else { throw fields.missing(key) }
    if let text = value.stringValue { return [.init(tokens: try engine.embeddingTokens(of: text), field: key)] }
    guard let list = value.arrayValue, !list.isEmpty else {
      throw APIError.invalid("\(key) must be a string, token ids, or an array of those", param: key)
    }
    if list.allSatisfy({ $0.doubleValue != nil }) {
      return [.init(tokens: try fields.tokenIDs(list, of: key, below: engine.info.vocabularySize), field: key)]
    }
    try Self.checkCount(list.count, key)
    return try list.enumerated().map { index, element in
      if let text = element.stringValue {
        return .init(tokens: try engine.embeddingTokens(of: text), field: "\(key)[\(index)]")
      }
      guard let ids = element.arrayValue else {
        throw APIError.invalid("\(key)[\(index)] must be a string or token ids", param: "\(key)[\(index)]")
      }
      let tokens = try fields.tokenIDs(ids, of: "\(key)[\(index)]", below: engine.info.vocabularySize)
      return .init(tokens: tokens, field: "\(key)[\(index)]")
    }
  }

  static func checkCount(_ count: Int, _ key: String) throws {
    if count > maximumInputs {
      throw APIError.invalid("\(key) has \(count) elements; at most \(maximumInputs) are allowed", param: key)
    }
  }

  private static func usage(_ vectors: [Embedding]) -> JSONValue {
    let tokens = Int64(vectors.reduce(0) { $0 + $1.tokenCount })
    return .object(["prompt_tokens": .integer(tokens), "total_tokens": .integer(tokens)])
  }

  static func notices(_ fields: [String]) -> [HTTPHeader] { NoticeFields(names: fields).headers }

  private func ollamaEmbed(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .ollamaEmbed)
    let model = try models.ollamaName(in: fields)
    let start = monotonicSeconds()
    let isCut = try fields.flag("truncate") ?? true
    let dimensions = try fields.integer("dimensions", in: 0...Int64(engine.info.hiddenSize))
    if fields["input"] == .array([]) {
      return exchange.reply(.whole(.json(.object(["model": .string(model), "embeddings": .array([])]))))
    }
    let inputs = try embeddingInputs(fields, "input").map { isCut ? cut($0) : $0 }
    try Embedder.run(inputs, pooling: pooling, on: exchange, of: self, shape: .ollama) { vectors in
      let kept = vectors.map { $0.normalized(dimensions: dimensions == 0 ? nil : dimensions).values.json }
      return .json(
        .object([
          "model": .string(model), "embeddings": .array(kept),
          "total_duration": .integer(Int64((monotonicSeconds() - start) * 1e9)), "load_duration": .integer(0),
          "prompt_eval_count": .integer(Int64(vectors.reduce(0) { $0 + $1.tokenCount })),
        ]))
    }
  }

  /// Ollama's first shape: one text, not normalised.
  private func ollamaEmbeddings(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .ollamaEmbeddings)
    _ = try models.ollamaName(in: fields)
    guard let text = try fields.string("prompt") else { throw fields.missing("prompt") }
    if text.isEmpty { return exchange.reply(.whole(.json(.object(["embedding": .array([])])))) }
    let input = cut(.init(tokens: try engine.embeddingTokens(of: text), field: "prompt"))
    try Embedder.run([input], pooling: pooling, on: exchange, of: self, shape: .ollama) { vectors in
      .json(.object(["embedding": vectors[0].values.json]))
    }
  }

  /// Truncates to the first tokens that fit, plus the tokens that end every text.
  private func cut(_ input: Embedder.Input) -> Embedder.Input {
    let limit = engine.info.plan.maximumModelLength - 1
    guard input.tokens.count > limit else { return input }
    let end = engine.tokenizer?.endTokens ?? []
    return .init(tokens: input.tokens.prefix(max(limit - end.count, 1)) + end, field: input.field)
  }
}

extension Embedding {
  fileprivate func cut(_ dimensions: Int?) -> [Float] { Array(values.prefix(dimensions ?? values.count)) }
}

extension [Float] {
  fileprivate var json: JSONValue { .array(map { .number(Double($0)) }) }

  /// The bytes of the numbers, little endian.
  fileprivate var base64: String {
    var bytes = Data(capacity: 4 * count)
    for value in self { Swift.withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) } }
    return bytes.base64EncodedString()
  }
}
