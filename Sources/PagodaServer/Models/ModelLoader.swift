// Loading and unloading: one model at a time, in request order, within the planned memory.
import Foundation
import PagodaKit

extension ModelHost {
  /// Requires the lock.
  func startLoader() {
    guard !isLoading else { return }
    isLoading = true
    loader = Task { [self] in
      while let entry = nextToLoad() { settle(entry, await load(entry)) }
    }
  }

  /// A model that was requested again while it was being loaded is queued a second time, and has no waiters by now.
  private func nextToLoad() -> Entry? {
    lock.withLock {
      queue.removeAll(where: \.waiters.isEmpty)
      isLoading = !queue.isEmpty
      return queue.isEmpty ? nil : queue.removeFirst()
    }
  }

  private func load(_ entry: Entry) async -> Result<Service, any Error> {
    do {
      if let service = stay(entry) { return .success(service) }
      guard let model = entry.model else { throw APIError.shuttingDown }
      try await makeRoom(for: entry)
      let engine = try await Engine.load(model.source, options: model.options)
      try await prepare?(engine)
      let service = Service(engine, entry, of: self)
      let isLate = lock.withLock {
        if isDraining { return true }
        (entry.state, entry.isRetiring, entry.lastUse) = (.loaded(service), false, monotonicSeconds())
        entry.capabilities = service.capabilities
        return false
      }
      if isLate {
        await engine.shutDown()
        throw APIError.shuttingDown
      }
      let seconds = String(format: "%.1f", engine.info.load?.seconds ?? 0)
      let (all, weights) = (engine.info.plan.totalBytes, engine.info.plan.weightsBytes)
      options.eventLog?(
        "\(model.name) is loaded: \(readable(bytes: all)), with \(readable(bytes: weights)) of weights in \(seconds) s")
      return .success(service)
    } catch is CancellationError {
      return .failure(APIError.shuttingDown)
    } catch {
      options.eventLog?("\(entry.names.names[0]) could not be loaded: \(error)")
      return .failure(error)
    }
  }

  /// Keeps a model that was about to be unloaded and is requested again.
  private func stay(_ entry: Entry) -> Service? {
    lock.withLock {
      guard let service = entry.service else { return nil }
      entry.isRetiring = false
      return service
    }
  }

  private enum Step {
    case go
    case unload(Entry, Service)
    case wait
  }

  /// Unloads the least recently used models until the plan has room. A busy model accepts no more requests and is
  /// unloaded when it has finished those it has; later requests for it are answered after this load, so no model waits
  /// forever.
  private func makeRoom(for entry: Entry) async throws {
    while true {
      try Task.checkCancellation()
      switch lock.withLock({ nextStep(for: entry) }) {
      case .go: return
      case .unload(let victim, let service): await unload(victim, service)
      case .wait: try await Task.sleep(for: .milliseconds(5))
      }
    }
  }

  /// Requires the lock.
  private func nextStep(for entry: Entry) -> Step {
    if case .leaving = entry.state { return .wait }
    var used: Int64 = 0
    for other in entries {
      if case .unloaded = other.state { continue }
      used += other.info.plan.totalBytes
    }
    if used + entry.info.plan.totalBytes <= memoryBytes { return .go }
    let victims = entries.filter { $0.service != nil && $0.model != nil }.sorted { $0.lastUse < $1.lastUse }
    guard let victim = victims.first(where: \.isRetiring) ?? victims.first(where: isIdle) ?? victims.first else {
      return .wait
    }
    victim.isRetiring = true
    guard isIdle(victim), let service = victim.service else { return .wait }
    victim.state = .leaving
    return .unload(victim, service)
  }

  /// Requires the lock.
  private func isIdle(_ entry: Entry) -> Bool { entry.users == 0 && entry.service?.admission.isEmpty ?? true }

  private func unload(_ entry: Entry, _ service: Service) async {
    service.statusFeed.end()
    await service.engine.shutDown()
    lock.withLock { (entry.state, entry.isRetiring) = (.unloaded, false) }
    options.eventLog?("\(entry.names.names[0]) is unloaded")
  }

  /// Unloads models that have been idle for this many seconds.
  func unload(idleFor seconds: Double) async {
    let now = monotonicSeconds()
    let old = lock.withLock {
      entries.compactMap { entry -> (Entry, Service)? in
        guard entry.model != nil, let service = entry.service else { return nil }
        guard isIdle(entry), entry.waiters.isEmpty else {
          entry.lastUse = now
          return nil
        }
        guard now - entry.lastUse >= seconds else { return nil }
        entry.state = .leaving
        return (entry, service)
      }
    }
    for (entry, service) in old { await unload(entry, service) }
  }

  /// Called at shutdown, after the load in progress has ended: shuts down every engine that the host owns.
  func close() async {
    await lock.withLock { loader }?.value
    for entry in entries where entry.model != nil {
      let service = lock.withLock { () -> Service? in
        defer { if entry.service != nil { entry.state = .leaving } }
        return entry.service
      }
      if let service { await unload(entry, service) }
    }
  }
}
