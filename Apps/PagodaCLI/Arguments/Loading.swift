// Loads the model that the options name; what cannot work is refused before its weights are read.
import PagodaKit

extension Arguments {
  /// Loads the model and shows progress. If it is missing, asks the user at the terminal whether to download it.
  /// - Parameter check: what the command needs of the model; called before the weights are read.
  func loadEngine(_ given: EngineOptions? = nil, check: (ModelInfo) throws -> Void = { _ in }) async throws -> Engine {
    let options = try given ?? engineOptions()
    try await offerToFetch()
    let source = try modelSource()
    if options.pipeline == nil { try await inspect(source, options, check) }
    let progress = ProgressLine("loading \(modelName)")
    defer { progress.clear() }
    return try await advisingOnMemory(source, options) {
      try await Engine.load(source, options: options) { progress.show($0.fraction) }
    }
  }

  /// Adds to an error about memory what would fit.
  private func advisingOnMemory<Result>(
    _ source: ModelSource, _ options: EngineOptions, _ body: () async throws -> Result
  ) async throws -> Result {
    do {
      return try await body()
    } catch PagodaError.outOfMemory(let message) {
      throw PagodaError.outOfMemory(await adviceOnMemory(message, source, options))
    }
  }

  /// `loadEngine` for a chat of one person.
  func loadChatEngine() async throws -> Engine {
    try await loadEngine(try singleUserOptions()) { info in
      if !info.hasChatTemplate {
        throw CommandFailure(info.chatTemplateError ?? "this model has no chat template; use pagoda generate --raw")
      }
      try info.requireTokenizer(or: "use pagoda generate --prompt-ids")
    }
  }

  /// Reads only headers, so that what cannot work is refused at once. In a pipe, where no progress is shown, a model that
  /// takes a while to load is announced.
  private func inspect(_ source: ModelSource, _ options: EngineOptions, _ check: (ModelInfo) throws -> Void)
    async throws
  {
    let info = try await advisingOnMemory(source, options) { try await Engine.inspect(source, options: options) }
    try check(info)
    if !Terminal.errorIsTerminal && info.plan.weightsBytes >= 256 << 20 {
      Terminal.note("loading \(modelName), \(readable(bytes: info.plan.weightsBytes)) of weights")
    }
  }

  /// The options of a single-user command: memory for one sequence by default.
  func singleUserOptions() throws -> EngineOptions {
    var options = try engineOptions()
    if !has("max-num-seqs") { options.maximumSequences = 1 }
    return options
  }
}

extension ModelInfo {
  /// - Parameter hint: what the user can do without one.
  func requireTokenizer(or hint: String) throws {
    if !hasTokenizer { throw CommandFailure("this model has no tokenizer; \(hint)") }
  }
}
