// Descriptions of the server's models: lists in OpenAI's, Ollama's and LM Studio's shapes, health and metrics of all.
import CDigest
import Foundation
import PagodaKit

extension ModelHost {
  static let routes: [String: [String: Service.Work]] = [
    "/health": ["GET": .server { host, _ in host.health.response }],
    "/ping": ["GET": .server { host, _ in host.health.response }, "POST": .server { host, _ in host.health.response }],
    "/livez": ["GET": .server { host, _ in host.health.liveness }],
    "/readyz": ["GET": .server { host, _ in host.health.response }],
    "/metrics": ["GET": .server { host, _ in .metrics(host.metricsText) }],
    "/version": ["GET": .server { _, _ in .json(.object(["version": .string(PagodaVersion.current)])) }],
    "/v1/models": ["GET": .server { $0.modelList($1) }],
    "/suggestions": ["GET": .server { host, _ in host.suggestions() }],
    "/api/version": ["GET": .server { _, _ in .json(.object(["version": .string(ollamaVersion)])) }],
    "/api/tags": ["GET": .server { host, _ in host.ollamaTags() }],
    "/api/ps": ["GET": .server { host, _ in host.ollamaRunning() }],
    "/api/show": ["POST": .host(.ollama) { try $0.ollamaShow($1) }],
    "/api/v0/models": ["GET": .server { host, _ in host.studioModels() }],
  ]

  /// The version of Ollama whose API this is: apps compare it before they use thinking, tools and formats.
  static let ollamaVersion = "0.12.11"

  var health: Health {
    let states = lock.withLock { entries.map { ($0.names.names[0], $0.service) } }
    var health = Health()
    for (_, service) in states {
      guard let service else { continue }
      var own = Health(service.engine.statistics, isDraining: service.admission.draining)
      own.recovers = service.engine.info.pipeline != nil
      health.add(own)
    }
    health.isDraining = health.isDraining || lock.withLock { isDraining }
    if entries.count > 1 { health.models = states.map { ($0.0, $0.1 != nil) } }
    return health
  }

  /// Counters of all models, labelled with their names, and of the server.
  var metricsText: String {
    let models = lock.withLock { entries.map { ($0, $0.service) } }
    let texts = models.map { entry, service in
      let engine = service.map { Metrics.text($0.engine.statistics) } ?? ""
      return (entry.names.names[0], engine + entry.metrics.text + (service?.peers?.statistics.text ?? ""))
    }
    return Metrics.labelled(texts) + metrics.text(connections: connections)
  }

  /// Every name that is listed, with its model.
  private var rows: [(name: String, entry: Entry)] {
    entries.flatMap { entry in (entry.names.listed + adapters(of: entry)).map { ($0, entry) } }
  }

  private func modelList(_ request: HTTPRequest) -> HTTPResponse {
    if request.isAnthropic {
      return .json(
        .object([
          "data": .array(rows.map { anthropicModel($0.name) }), "has_more": .bool(false),
          "first_id": rows.first.map { .string($0.name) } ?? .null,
          "last_id": rows.last.map { .string($0.name) } ?? .null,
        ]))
    }
    return .json(.object(["object": .string("list"), "data": .array(rows.map { model($0.name, $0.entry) })]))
  }

  /// Models that the page suggests to a user who has only the embedded one.
  private func suggestions() -> HTTPResponse {
    let rows = options.suggestions.map { suggestion -> JSONValue in
      .object([
        "command": .string(suggestion.command), "memory_bytes": .integer(suggestion.memoryBytes),
        "limit_bytes": .integer(suggestion.limitBytes), "context": .integer(Int64(suggestion.contextLength)),
      ])
    }
    return .json(.object(["suggestions": .array(rows)]))
  }

  /// `/v1/models/NAME`
  func modelRoute(_ path: String) -> [String: Service.Work]? {
    let prefix = "/v1/models/"
    guard path.hasPrefix(prefix), path != prefix else { return nil }
    let name = String(path.dropFirst(prefix.count))
    return [
      "GET": .server { host, request in
        guard let entry = host.entry(named: name) else { throw ServedModels.unknown(name, host.listed) }
        return .json(request.isAnthropic ? host.anthropicModel(name) : host.model(name, entry))
      }
    ]
  }

  private func anthropicModel(_ name: String) -> JSONValue {
    let date = Date(timeIntervalSince1970: Double(created)).formatted(.iso8601)
    return .object([
      "type": .string("model"), "id": .string(name), "display_name": .string(name), "created_at": .string(date),
    ])
  }

  private func model(_ name: String, _ entry: Entry) -> JSONValue {
    let info = entry.info
    var members: [JSONValue.Member] = [
      .init(key: "id", value: .string(name)), .init(key: "object", value: .string("model")),
      .init(key: "created", value: .integer(created)), .init(key: "owned_by", value: .string("pagoda")),
      .init(key: "max_model_len", value: .integer(Int64(info.plan.maximumModelLength))),
      .init(key: "architecture", value: .string(info.architecture)),
      .init(key: "weight_dtype", value: .string(info.weightDType)),
      .init(
        key: "input_modalities", value: .array((info.readsImages ? ["text", "image"] : ["text"]).map { .string($0) })),
    ]
    if adapters(of: entry).contains(name) {
      members.append(.init(key: "parent", value: .string(entry.names.names[0])))
    } else if entry.names.names[0] != name {
      members.append(.init(key: "root", value: .string(entry.names.names[0])))
    }
    if entries.count > 1 {
      let isLoaded = state(of: entry).service != nil
      members.append(.init(key: "loaded", value: .bool(isLoaded)))
      members.append(.init(key: "memory_bytes", value: .integer(info.plan.totalBytes)))
    }
    return .object(members)
  }

  private func studioModels() -> HTTPResponse {
    let list = rows.map { name, entry in
      JSONValue.object([
        "id": .string(name), "object": .string("model"), "type": .string(entry.info.readsImages ? "vlm" : "llm"),
        "publisher": .string("pagoda"),
        "arch": .string(entry.info.family), "compatibility_type": .string("pagoda"),
        "quantization": .string(entry.info.weightDType),
        "state": .string(state(of: entry).service == nil ? "not-loaded" : "loaded"),
        "max_context_length": .integer(Int64(entry.info.plan.maximumModelLength)),
      ])
    }
    return .json(.object(["object": .string("list"), "data": .array(list)]))
  }
}
