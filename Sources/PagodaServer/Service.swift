// Service: the parts that the server's routes need from one loaded model.
import Foundation
import PagodaKit

final class Service: @unchecked Sendable {
  /// The services a route uses.
  enum Work: Sendable {
    case page(PageFile)
    /// Answered immediately by the server, regardless of the model in memory, from the request's path and headers.
    case server(@Sendable (ModelHost, HTTPRequest) throws -> HTTPResponse)
    /// Answered immediately by the most recently used model.
    case immediate(@Sendable (Service) -> HTTPResponse)
    /// A stream of events without a request body.
    case stream(@Sendable (Service, Exchange) throws -> Void)
    /// A JSON body; the answer needs no model in memory.
    case host(APIError.Shape, @Sendable (ModelHost, Exchange) throws -> Void)
    /// A form with a file; the answer needs no model in memory.
    case upload(@Sendable (ModelHost, Multipart, Exchange) throws -> Void)
    /// A JSON body; answered by a worker; `isGeneration` makes it count against the queue.
    case json(isGeneration: Bool, APIError.Shape, @Sendable (Service, Exchange) throws -> Void)
  }

  let engine: Engine
  private let names: ServedModels
  /// The names that requests may use now, including those of adapters.
  var models: ServedModels {
    var models = names
    models.adapters = engine.loras.map(\.name)
    return models
  }
  let loadsAdapters: Bool
  let admission: Admission
  let metrics: ModelMetrics
  let generator: Generator
  let tokens: TokenTexts
  let guarding: Guard
  let replica: Replica
  let pooling: Pooling
  let reranking: Reranking
  let statusFeed: StatusFeed
  let responses: ResponseStore
  let conversations: ConversationStore
  let sharing: PrefixSharing?
  let peers: PrefixPeers?
  private weak var host: ModelHost?

  init(_ engine: Engine, _ entry: ModelHost.Entry, of host: ModelHost) {
    self.engine = engine
    self.host = host
    let options = host.options
    names = entry.names
    loadsAdapters = options.loadsAdapters
    let plan = engine.info.plan
    metrics = entry.metrics
    admission = Admission(
      maximumSequences: plan.maximumSequences + options.maximumWaiting,
      maximumPromptTokens: max(1 << 20, 4 * plan.maximumModelLength))
    generator = Generator(
      engine: engine, admission: admission, grammars: host.grammars, metrics: metrics,
      pendingEvents: options.pendingEvents)
    tokens = TokenTexts(tokenizer: engine.tokenizer, endOfText: Set(engine.info.endOfTextTokens))
    guarding = host.guarding
    pooling = options.pooling
    reranking = options.reranking
    statusFeed = StatusFeed(engine)
    responses = host.responses
    conversations = host.conversations
    sharing = host.sharing
    peers =
      if let sharing, !host.peers.isEmpty {
        PrefixPeers(host.peers, engine: engine, metrics: metrics, sharing: sharing)
      } else { nil }
    replica = Replica(name: options.replicaName, modelPath: entry.path, fingerprint: engine.info.fingerprint)
  }

  /// Logs and counts an answer that no connection waits for.
  func finished(_ exchange: Exchange) { host?.finished(exchange) }

  func dispatch(_ work: @escaping @Sendable () -> Void) { host?.dispatch(work) }
}
