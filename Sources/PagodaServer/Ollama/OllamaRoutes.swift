// The routes of Ollama's API: the requests that apps send first, and the chat itself.
import CDigest
import Foundation
import PagodaKit

extension Service {
  static let ollamaRoutes: [String: [String: Work]] = [
    "/api/chat": ["POST": .json(isGeneration: true, .ollama) { try $0.ollama($1, .chat) }],
    "/api/generate": ["POST": .json(isGeneration: true, .ollama) { try $0.ollama($1, .generate) }],
  ]

  private func ollama(_ exchange: Exchange, _ kind: OllamaRequest.Kind) throws {
    let request = try OllamaRequest(exchange.request.body, kind: kind, models: models)
    let format = OllamaFormat(request: request, tokens: tokens)
    guard let generation = request.generation else { return exchange.reply(.whole(.json(format.loaded))) }
    try generate(generation, format, exchange)
  }

  var capabilities: [String] {
    var list = ["completion"]
    let tool = JSONValue.object([
      "type": .string("function"), "function": .object(["name": .string("pagoda_probe_tool")]),
    ])
    let hello = JSONValue.object(["role": .string("user"), "content": .string("Hello!")])
    let prompt = try? engine.encode(ChatPrompt(messages: [hello], tools: [tool], variables: []))
    if prompt?.text.contains("pagoda_probe_tool") == true { list.append("tools") }
    if engine.thinkingTokens.close != nil { list.append("thinking") }
    if engine.info.readsImages { list.append("vision") }
    return list
  }
}

extension ModelHost {
  func ollamaTags() -> HTTPResponse {
    .json(
      .object([
        "models": .array(entries.flatMap { entry in entry.names.listed.map { .object(ollamaModel($0, entry.info)) } })
      ]))
  }

  /// The models in memory.
  func ollamaRunning() -> HTTPResponse {
    let running = entries.filter { state(of: $0).service != nil }
    let list = running.flatMap { entry in entry.names.listed.map { ($0, entry.info) } }.map { name, info in
      JSONValue.object(
        ollamaModel(name, info) + [
          .init(key: "expires_at", value: .string("9999-12-31T23:59:59Z")),
          .init(key: "size_vram", value: .integer(info.device.hasPrefix("cpu") ? 0 : info.plan.totalBytes)),
          .init(key: "context_length", value: .integer(Int64(info.plan.maximumModelLength))),
        ])
    }
    return .json(.object(["models": .array(list)]))
  }

  private func ollamaModel(_ name: String, _ info: ModelInfo) -> [JSONValue.Member] {
    let listed = ServedModels.ollamaName(name)
    return [
      .init(key: "name", value: .string(listed)), .init(key: "model", value: .string(listed)),
      .init(key: "modified_at", value: .string(createdTime)),
      .init(key: "size", value: .integer(info.plan.weightsBytes)),
      .init(key: "digest", value: .string(ollamaDigest(name, info))), .init(key: "details", value: ollamaDetails(info)),
    ]
  }

  private var createdTime: String { Date(timeIntervalSince1970: Double(created)).ISO8601Format() }

  /// Generated from the loaded model's description, without reading its files again: the same for the same model.
  private func ollamaDigest(_ name: String, _ info: ModelInfo) -> String {
    let text = "\(name) \(info.architecture) \(info.parameterCount) \(info.weightDType) \(info.vocabularySize)"
    var digest = pagoda_digest()
    pagoda_digest_begin(&digest, 0)
    let bytes = Array(text.utf8)
    bytes.withUnsafeBytes { pagoda_digest_add(&digest, $0.baseAddress, $0.count) }
    var out = [UInt8](repeating: 0, count: pagoda_sha256_bytes)
    pagoda_digest_end(&digest, &out)
    return out.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  private func ollamaDetails(_ info: ModelInfo) -> JSONValue {
    let billions = Double(info.parameterCount) / 1e9
    let size =
      billions >= 1 ? String(format: "%.1fB", billions) : String(format: "%.2fM", Double(info.parameterCount) / 1e6)
    return .object([
      "parent_model": .string(""), "format": .string("pagoda"), "family": .string(info.family),
      "families": .array([.string(info.family)]), "parameter_size": .string(size),
      "quantization_level": .string(info.weightDType.uppercased()),
    ])
  }

  func ollamaShow(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .ollamaShow)
    let entry = try ollamaEntry(fields)
    let info = entry.info
    let family = info.family
    // Before the model has been loaded once, its template is unknown, but whether it has one is known.
    let capabilities = state(of: entry).capabilities ?? ["completion"] + (info.hasChatTemplate ? ["tools"] : [])
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
            "modelfile": .string(""), "parameters": .string(""), "details": ollamaDetails(info),
            "model_info": .object(facts), "capabilities": .array(capabilities.map { .string($0) }),
            "modified_at": .string(createdTime),
          ]))))
  }

  func ollamaEntry(_ fields: FieldReader) throws -> Entry {
    if entries.count == 1 { _ = try entries[0].names.ollamaName(in: fields) }
    guard let name = try fields.string("model", maximumBytes: 512) ?? fields.string("name", maximumBytes: 512) else {
      throw fields.missing("model")
    }
    guard let entry = entry(named: name) else { throw ServedModels.unknown(name, listed) }
    return entry
  }
}
