// ServedModel: one of several models of a server, and the names that requests may call models by.
import PagodaKit

/// One of several models that a server loads on demand.
///
/// ```swift
/// let server = try Server.listen()
/// try await server.serve([ServedModel(name: "small", source: .folder(path: "Models/Qwen3.5-0.8B"))])
/// ```
public struct ServedModel: Sendable {
  /// Its name in requests and reports.
  public var name: String
  /// Its origin.
  public var source: ModelSource
  /// The options of its engine.
  public var options: EngineOptions
  /// Its origin as the user gave it, for `/model_info`; nil reports its name.
  public var path: String?

  /// A model under a name.
  public init(name: String, source: ModelSource, options: EngineOptions = EngineOptions(), path: String? = nil) {
    self.name = name
    self.source = source
    self.options = options
    self.path = path
  }
}

/// Another name for a model of a server.
///
/// ```swift
/// options.aliases = [ModelAlias("gpt-*", model: "small")]
/// ```
public struct ModelAlias: Hashable, Sendable {
  /// The name, in which `*` matches any text: `gpt-4o`, `claude-*`.
  public var pattern: String
  /// The name of the model that it means.
  public var model: String

  /// A name or a pattern, and the model that it means.
  public init(_ pattern: String, model: String) {
    self.pattern = pattern
    self.model = model
  }

  /// A pattern could match any name; it is not listed among the models.
  var isPattern: Bool { pattern.contains("*") }

  package func matches(_ name: String) -> Bool {
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last else { return name == pattern }
    guard name.utf8.count >= first.utf8.count + last.utf8.count, name.hasPrefix(first), name.hasSuffix(last) else {
      return false
    }
    var rest = name.dropFirst(first.count).dropLast(last.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return true
  }
}

/// The names that requests may call one model by.
struct ServedModels: Sendable {
  var names: [String]
  var aliases: [ModelAlias] = []
  /// LoRA adapters of the model.
  var adapters: [String] = []
  /// Whether images, audio and files are replaced by remarks, unless a request says otherwise.
  var ignoresMedia = false
  /// Whether the model has a vision tower.
  var readsImages = false
  /// Names that were added while the server runs.
  var added: AddedNames?

  /// Names, and aliases without `*`.
  var listed: [String] {
    names + adapters + aliases.filter { !$0.isPattern }.map(\.pattern) + (added?.names(of: names[0]) ?? [])
  }

  /// `:latest`, which Ollama's clients add, is optional.
  func contains(_ name: String) -> Bool {
    (names + adapters).contains { $0 == name || Self.ollamaName($0) == name } || aliases.contains { $0.matches(name) }
      || added?.model(of: name) == names[0]
  }

  func name(in fields: FieldReader) throws -> String {
    guard let name = try fields.string("model", maximumBytes: 512) else { return names[0] }
    guard contains(name) else { throw Self.unknown(name, listed) }
    return name
  }

  /// The adapter that a request uses: that of `lora`, or the one that `model` names.
  func adapter(in fields: FieldReader) throws -> String? {
    if let lora = try fields.string("lora", maximumBytes: 200), !lora.isEmpty {
      if adapters.contains(lora) { return lora }
      throw APIError.invalid(
        "no LoRA adapter named '\(lora.prefix(100))' is loaded", param: "lora", code: "model_not_found", status: 404)
    }
    guard let name = try fields.string("model", maximumBytes: 512) else { return nil }
    if names.contains(where: { $0 == name || Self.ollamaName($0) == name }) { return nil }
    return adapters.first { $0 == name || Self.ollamaName($0) == name }
  }

  static func unknown(_ name: String, _ listed: [String]) -> APIError {
    APIError.invalid(
      "the model '\(name.prefix(100))' does not exist here; this server has \(listed.joined(separator: ", "))",
      param: "model", code: "model_not_found", status: 404)
  }
}

extension ModelHost {
  /// Plans each model alone, without loading it.
  static func entries(
    of models: [ServedModel], _ options: ServerOptions, memoryBytes: Int64?, added: AddedNames? = nil
  ) async throws -> [Entry] {
    if models.isEmpty { throw ServerError("there is no model to serve") }
    var names: Set<String> = []
    for model in models where !names.insert(model.name).inserted {
      throw ServerError("two models are called '\(model.name)'")
    }
    for alias in options.aliases where !names.contains(alias.model) {
      throw ServerError("the alias '\(alias.pattern)' is for '\(alias.model)', which is none of the models")
    }
    var entries: [Entry] = []
    for model in models {
      let info = try await Engine.inspect(model.source, options: model.options)
      let limit = memoryBytes ?? info.plan.deviceLimitBytes
      if info.plan.totalBytes > limit {
        throw PagodaError.outOfMemory(
          "\(model.name) needs \(readable(bytes: info.plan.totalBytes)), and the models together may take "
            + readable(bytes: limit))
      }
      let aliases = options.aliases.filter { $0.model == model.name }
      entries.append(
        Entry(
          model,
          ServedModels(
            names: [model.name], aliases: aliases, ignoresMedia: options.ignoresMedia, readsImages: info.readsImages,
            added: added),
          path: model.path ?? model.name, info: info))
    }
    return entries
  }
}
