// Engine: a loaded model that answers many requests concurrently.
internal import CxxCore

/// A loaded model that answers many requests concurrently.
///
/// ```swift
/// let engine = try await Engine.load(.mini)
/// for try await event in engine.submit(Request("What is the capital of France?")) {
///   if case .text(let text) = event { print(text, terminator: "") }
/// }
/// ```
///
/// Any task may use it. Releasing the last reference frees the memory; ``shutDown()`` waits until that is done.
public final class Engine: Sendable {
  /// The model's properties and its memory plan.
  public let info: ModelInfo
  /// The model's tokenizer; nil if its folder has none.
  public let tokenizer: Tokenizer?
  package let thinkingTokens: ThinkingTokens

  let core: EngineHandle
  let chatTemplate: pagoda.ChatTemplate?
  let defaults: GenerationDefaults
  let imageTokenID: Int32
  let receipts = ReceiptSink()

  init(_ engine: pagoda.Engine) {
    core = EngineHandle(engine)
    let coreInfo = engine.info()
    info = ModelInfo(coreInfo)
    imageTokenID = coreInfo.image_token_id
    tokenizer = engine.tokenizer().map { Tokenizer($0) }
    thinkingTokens = ThinkingTokens(tokenizer)
    chatTemplate = engine.chat_template()
    defaults = GenerationDefaults(json: String(engine.generation_config_json()))
  }

  /// The engine's current counters and gauges.
  public var statistics: EngineStatistics { EngineStatistics(core.engine.stats()) }

  /// Frees the memory. Running requests fail with ``PagodaError/shutDown(_:)``, and so do later ones.
  public func shutDown() async {
    let core = core
    try? await offCooperativePool { core.engine.shut_down() }
  }
}
