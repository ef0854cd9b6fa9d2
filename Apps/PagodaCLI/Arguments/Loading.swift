// Loads the model that the options name; what cannot work is refused before its weights are read.
import Foundation
import PagodaKit

/// Weights of at least so many bytes take a while to load.
private let longLoadBytes: Int64 = 256 << 20

/// `loaded qwen3.5:4b, 2.30 GiB of weights in 1.9 s`
package func loadText(_ name: String, _ load: LoadSummary) -> String {
  "loaded \(name), \(readable(bytes: load.weightsBytes)) of weights in \(String(format: "%.1f", load.seconds)) s"
}

private func bytesText(_ progress: LoadProgress) -> String {
  progress.totalBytes == 0 ? "" : "\(readable(bytes: progress.loadedBytes)) of \(readable(bytes: progress.totalBytes))"
}

extension Arguments {
  /// Loads the model and shows progress. If it is missing, asks the user at the terminal whether to download it.
  /// - Parameters:
  ///   - isLogged: whether the caller reports the end of the load.
  ///   - check: what the command needs of the model; called before the weights are read.
  func loadEngine(
    _ given: EngineOptions? = nil, isLogged: Bool = false, check: (ModelInfo) throws -> Void = { _ in }
  ) async throws -> Engine {
    var options = try given ?? engineOptions()
    try await offerToFetch(for: &options)
    let source = try modelSource()
    if options.pipeline == nil { try await inspect(source, options, check) }
    let progress = ProgressLine("loading \(modelName)")
    defer { progress.clear() }
    let engine = try await advisingOnMemory(source, options) {
      try await Engine.load(source, options: options) { progress.show($0.fraction, after: bytesText($0)) }
    }
    if !isLogged, let load = engine.info.load, load.weightsBytes >= longLoadBytes {
      progress.clear()
      Terminal.dimNote(loadText(modelName, load))
    }
    return engine
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
    if !Terminal.errorIsTerminal && info.plan.weightsBytes >= longLoadBytes {
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
