// ModelHost: the models of a server, which of them are in memory, and which requests use them.
import Foundation
import PagodaKit

final class ModelHost: @unchecked Sendable {
  /// A model. Its mutable state is guarded by the host's lock.
  final class Entry: @unchecked Sendable {
    enum State {
      case unloaded
      case loaded(Service)
      case leaving  // the memory is not free yet
    }

    let model: ServedModel?  // nil for an engine of the caller, which is never unloaded
    let names: ServedModels
    let path: String
    let info: ModelInfo
    var state = State.unloaded
    var users = 0  // between finding the service and handing it work
    var lastUse = 0.0
    var isRetiring = false  // accepts no more requests, so that its memory can be freed for another
    var waiters: [Waiter] = []
    var capabilities: [String]?  // set once it has been loaded
    let metrics = ModelMetrics()

    init(_ model: ServedModel?, _ names: ServedModels, path: String, info: ModelInfo) {
      self.model = model
      self.names = names
      self.path = path
      self.info = info
    }

    var service: Service? {
      if case .loaded(let service) = state { return service }
      return nil
    }
  }

  typealias Waiter = @Sendable (Result<Service, any Error>) -> Void

  let options: ServerOptions
  let guarding: Guard
  let metrics: Metrics
  let grammars = GrammarPool()
  let toolCalls = ToolCallCount()
  let responses: ResponseStore
  let conversations = ConversationStore()
  let added: AddedNames
  let files: FileStore
  let batches: BatchRunner
  /// Logs and counts an answer that no connection waits for.
  let finished: @Sendable (Exchange) -> Void
  let peers: [PrefixPeer]
  let created = Int64(Date().timeIntervalSince1970)
  let entries: [Entry]
  let lock = NSLock()
  // Guarded by `lock`.
  var queue: [Entry] = []  // to be loaded
  var isLoading = false
  var loader: Task<Void, Never>?
  private(set) var isDraining = false
  let memoryBytes: Int64
  let prepare: (@Sendable (Engine) async throws -> Void)?
  private let maximumWaiters: Int
  private weak var http: HTTPServer?

  /// - Parameter prepare: called with each engine before it answers requests.
  init(
    _ entries: [Entry], behind front: RequestGate, on http: HTTPServer, memoryBytes: Int64 = .max,
    prepare: (@Sendable (Engine) async throws -> Void)? = nil
  ) {
    self.entries = entries
    self.http = http
    self.memoryBytes = memoryBytes
    self.prepare = prepare
    options = front.options
    guarding = front.guarding
    metrics = front.metrics
    responses = front.responses
    peers = front.peers
    added = front.added
    maximumWaiters = options.maximumWaiting + 16
    files = FileStore(limits: options.fileLimits)
    // Half of the places, so that a client that waits finds one free.
    let places = entries.map(\.info.plan.maximumSequences).min() ?? 2
    batches = BatchRunner(files: files, maximumRunning: max(1, places / 2))
    finished = { [weak front] in front?.finished($0) }
    connectBatches()
  }

  /// All peers serve the same single model.
  var sharing: PrefixSharing? { entries.count == 1 ? options.prefixSharing : nil }

  var connections: Int { http?.load.connections ?? 0 }

  func dispatch(_ work: @escaping @Sendable () -> Void) { http?.run(work) }

  var loaded: [Service] { lock.withLock { entries.compactMap(\.service) } }

  func state(of entry: Entry) -> (service: Service?, capabilities: [String]?) {
    lock.withLock { (entry.service, entry.capabilities) }
  }

  /// The most recently used model, or the first one; for requests that name none.
  var current: Entry {
    lock.withLock { entries.filter { $0.service != nil }.max { $0.lastUse < $1.lastUse } } ?? entries[0]
  }

  /// Names take precedence over aliases of any model.
  func entry(named name: String) -> Entry? {
    if let entry = entries.first(where: { $0.names.names.contains(name) }) { return entry }
    if let entry = entries.first(where: { ServedModels(names: $0.names.names).contains(name) }) { return entry }
    if let entry = entries.first(where: { adapters(of: $0).contains(name) }) { return entry }
    if let model = added.model(of: name) { return entries.first { $0.names.names.contains(model) } }
    guard let alias = options.aliases.first(where: { $0.matches(name) || ServedModels.ollamaName($0.pattern) == name })
    else { return nil }
    return entries.first { $0.names.names.contains(alias.model) }
  }

  /// The adapters of a model: those that are loaded, or that will be when it is.
  func adapters(of entry: Entry) -> [String] {
    state(of: entry).service?.engine.loras.map(\.name) ?? entry.model?.options.loras.map(\.name) ?? []
  }

  var listed: [String] { entries.flatMap(\.names.listed) }

  /// The model that a body names.
  func entry(of body: [UInt8]) throws -> Entry {
    if entries.count == 1 { return entries[0] }
    let fields = try FieldReader(body: body, table: FieldTable(known: [], ignored: [], refused: [:]))
    guard let name = try fields.string("model", maximumBytes: 512) ?? fields.string("name", maximumBytes: 512) else {
      return entries[0]
    }
    guard let entry = entry(named: name) else { throw ServedModels.unknown(name, listed) }
    return entry
  }

  /// Passes the model to `work`: immediately if it is in memory, otherwise on a worker when loading has succeeded or
  /// failed.
  func use(_ entry: Entry, _ work: @escaping Waiter) throws {
    let service = try lock.withLock { () throws -> Service? in
      entry.lastUse = monotonicSeconds()
      if let service = entry.service, !entry.isRetiring {
        entry.users += 1
        return service
      }
      if isDraining { throw APIError.shuttingDown }
      if entry.waiters.count >= maximumWaiters {
        throw APIError.overloaded("the server is busy: \(entry.waiters.count) requests wait for the model to load")
      }
      entry.waiters.append(work)
      if !queue.contains(where: { $0 === entry }) { queue.append(entry) }
      startLoader()
      return nil
    }
    if let service { hand(service, of: entry, to: work) }
  }

  /// Called by the loader: requests that wait for the model continue.
  func settle(_ entry: Entry, _ result: Result<Service, any Error>) {
    let waiters = lock.withLock {
      defer { entry.waiters = [] }
      if case .success = result { entry.users += entry.waiters.count }
      return entry.waiters
    }
    for waiter in waiters {
      dispatch { [self] in
        switch result {
        case .success(let service): hand(service, of: entry, to: waiter)
        case .failure: waiter(result)
        }
      }
    }
  }

  private func hand(_ service: Service, of entry: Entry, to work: Waiter) {
    work(.success(service))
    lock.withLock {
      entry.users -= 1
      entry.lastUse = monotonicSeconds()
    }
  }

  /// Whether nothing is waiting or being answered.
  var isEmpty: Bool {
    lock.withLock { entries.allSatisfy { $0.waiters.isEmpty && $0.service?.admission.isEmpty ?? true } }
  }

  /// Accepts no more work. Requests that wait for a model get an error.
  func drain() {
    let (services, loader) = lock.withLock {
      isDraining = true
      queue = []
      return (entries.compactMap(\.service), self.loader)
    }
    loader?.cancel()
    batches.stop()
    for service in services {
      service.admission.drain()
      service.statusFeed.end()
    }
    for entry in entries { settle(entry, .failure(APIError.shuttingDown)) }
  }
}
