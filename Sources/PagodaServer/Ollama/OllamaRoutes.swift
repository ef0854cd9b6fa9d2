// The routes of Ollama's API: what apps ask before they chat, and the chat itself.
import CDigest
import Foundation
import PagodaKit

extension Service {
  static let ollamaRoutes: [String: [String: Work]] = [
    "/api/version": ["GET": .quick { _ in .json(.object(["version": .string(ollamaVersion)])) }],
    "/api/tags": ["GET": .quick { $0.ollamaTags() }],
    "/api/ps": ["GET": .quick { $0.ollamaRunning() }],
    "/api/show": ["POST": .json(isGeneration: false, .ollama) { try $0.ollamaShow($1) }],
    "/api/pull": ["POST": .json(isGeneration: false, .ollama) { try $0.ollamaPull($1) }],
    "/api/chat": ["POST": .json(isGeneration: true, .ollama) { try $0.ollama($1, .chat) }],
    "/api/generate": ["POST": .json(isGeneration: true, .ollama) { try $0.ollama($1, .generate) }],
  ]

  /// The version of Ollama whose API this is: apps compare it before they use thinking, tools and formats.
  static let ollamaVersion = "0.12.11"

  private func ollama(_ exchange: Exchange, _ kind: OllamaRequest.Kind) throws {
    let request = try OllamaRequest(exchange.request.body, kind: kind, models: models)
    let format = OllamaFormat(request: request, tokens: tokens)
    guard let generation = request.generation else { return exchange.reply(.whole(.json(format.loaded))) }
    try generate(generation, format, exchange)
  }

  private func ollamaTags() -> HTTPResponse {
    .json(.object(["models": .array(models.names.map { .object(ollamaModel($0)) })]))
  }

  /// The models in memory: all of them, always.
  private func ollamaRunning() -> HTTPResponse {
    let isOnCPU = engine.info.device.hasPrefix("cpu")
    let list = models.names.map { name in
      JSONValue.object(
        ollamaModel(name) + [
          .init(key: "expires_at", value: .string("9999-12-31T23:59:59Z")),
          .init(key: "size_vram", value: .integer(isOnCPU ? 0 : engine.info.plan.totalBytes)),
          .init(key: "context_length", value: .integer(Int64(engine.info.plan.maximumModelLength))),
        ])
    }
    return .json(.object(["models": .array(list)]))
  }

  private func ollamaModel(_ name: String) -> [JSONValue.Member] {
    let listed = ServedModels.ollamaName(name)
    return [
      .init(key: "name", value: .string(listed)), .init(key: "model", value: .string(listed)),
      .init(key: "modified_at", value: .string(createdTime)),
      .init(key: "size", value: .integer(engine.info.plan.weightsBytes)),
      .init(key: "digest", value: .string(ollamaDigest(name))), .init(key: "details", value: ollamaDetails),
    ]
  }

  private var createdTime: String { Date(timeIntervalSince1970: Double(created)).ISO8601Format() }

  /// Made from the loaded model's description, without reading its files again: the same for the same model.
  private func ollamaDigest(_ name: String) -> String {
    let info = engine.info
    let text = "\(name) \(info.architecture) \(info.parameterCount) \(info.weightDType) \(info.vocabularySize)"
    var digest = pagoda_digest()
    pagoda_digest_begin(&digest, 0)
    let bytes = Array(text.utf8)
    bytes.withUnsafeBytes { pagoda_digest_add(&digest, $0.baseAddress, $0.count) }
    var out = [UInt8](repeating: 0, count: pagoda_sha256_bytes)
    pagoda_digest_end(&digest, &out)
    return out.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  private var ollamaDetails: JSONValue {
    let info = engine.info
    let billions = Double(info.parameterCount) / 1e9
    let size =
      billions >= 1 ? String(format: "%.1fB", billions) : String(format: "%.2fM", Double(info.parameterCount) / 1e6)
    return .object([
      "parent_model": .string(""), "format": .string("pagoda"), "family": .string(info.family),
      "families": .array([.string(info.family)]), "parameter_size": .string(size),
      "quantization_level": .string(info.weightDType.uppercased()),
    ])
  }

  private func ollamaShow(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .ollamaShow)
    _ = try models.ollamaName(in: fields)
    let info = engine.info
    let family = info.family
    func count(_ key: String, _ value: Int) -> JSONValue.Member { .init(key: key, value: .integer(Int64(value))) }
    let facts: [JSONValue.Member] = [
      .init(key: "general.architecture", value: .string(family)),
      .init(key: "general.parameter_count", value: .integer(info.parameterCount)),
      count("\(family).context_length", info.plan.maximumModelLength), count("\(family).block_count", info.layerCount),
      count("\(family).embedding_length", info.hiddenSize), count("\(family).vocab_size", info.vocabularySize),
    ]
    exchange.reply(
      .whole(
        .json(
          .object([
            "modelfile": .string(""), "parameters": .string(""), "details": ollamaDetails,
            "model_info": .object(facts), "capabilities": .array(capabilities.map { .string($0) }),
            "modified_at": .string(createdTime),
          ]))))
  }

  private var capabilities: [String] {
    var list = ["completion"]
    let tool = JSONValue.object([
      "type": .string("function"), "function": .object(["name": .string("pagoda_probe_tool")]),
    ])
    let hello = JSONValue.object(["role": .string("user"), "content": .string("Hello!")])
    let prompt = try? engine.encode(ChatPrompt(messages: [hello], tools: [tool], variables: []))
    if prompt?.text.contains("pagoda_probe_tool") == true { list.append("tools") }
    if ThinkingTokens(engine.tokenizer).close != nil { list.append("thinking") }
    return list
  }

  /// Only the served model is available; the operator loads others by starting a server for them.
  private func ollamaPull(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .ollamaPull)
    do {
      _ = try models.ollamaName(in: fields)
    } catch let error as APIError where error.status == 404 {
      var error = error
      error.message += "; it cannot fetch others: run `pagoda pull` and start a server with --model"
      throw error
    }
    exchange.reply(.whole(.json(.object(["status": .string("success")]))))
  }
}
