// StatusFeed: the engine's activity as a stream of events, one text for all watching clients. Without a client no
// timer runs and the engine records nothing.
import Foundation
import PagodaKit

final class StatusFeed: @unchecked Sendable {
  static let maximumClients = 16
  private static let interval = 0.2  // seconds between two events while something changes
  private static let longestSilence = 1.0
  private static let maximumSteps = 64  // per event
  private static let pendingEvents = 32  // limit for a client that does not read: about six seconds

  private let engine: Engine
  private let queue = DispatchQueue(label: "pagoda.status")
  private let lock = NSLock()
  // Guarded by `lock`.
  private var clients: [Int: StreamBody] = [:]
  private var lastClient = 0
  private var hasEnded = false
  // Used only on `queue`.
  private var watch: EngineWatch?
  private var timer: (any DispatchSourceTimer)?
  private var last: (statistics: EngineStatistics, time: Double)?

  init(_ engine: Engine) { self.engine = engine }

  var isRecording: Bool { queue.sync { watch != nil } }
  var clientCount: Int { lock.withLock { clients.count } }

  /// Sends events until the client disconnects.
  func add(_ exchange: Exchange) throws {
    let body = StreamBody(StatusEncoder(), maximumPending: Self.pendingEvents) { [weak exchange] in
      exchange?.stopWork()
    }
    let id = try lock.withLock { () throws -> Int in
      if hasEnded { throw APIError.shuttingDown }
      if clients.count >= Self.maximumClients {
        throw APIError.overloaded("\(Self.maximumClients) clients watch the status already")
      }
      lastClient += 1
      clients[lastClient] = body
      return lastClient
    }
    exchange.onGone { [weak self] in self?.remove(id) }
    exchange.reply(
      .stream(
        [
          HTTPHeader("Content-Type", "text/event-stream; charset=utf-8"), HTTPHeader("Cache-Control", "no-cache"),
          HTTPHeader("X-Accel-Buffering", "no"),
        ], body))
    queue.async { [self] in
      start()
      if let watch { body.push(.text(event(watch.activity, engine.statistics, after: Int64.max))) }
    }
  }

  /// Ends all streams and starts no more: the server shuts down.
  func end() {
    let bodies = lock.withLock {
      hasEnded = true
      return Array(clients.values)
    }
    for body in bodies { body.push(.cut(.shuttingDown)) }
  }

  private func remove(_ id: Int) {
    lock.withLock { clients[id] = nil }
    queue.async { [self] in
      guard lock.withLock({ clients.isEmpty }) else { return }
      timer?.cancel()
      (timer, watch, last) = (nil, nil, nil)
    }
  }

  private func start() {
    guard timer == nil, lock.withLock({ !clients.isEmpty }) else { return }
    watch = engine.watch()
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval, leeway: .milliseconds(20))
    timer.setEventHandler { [weak self] in self?.tick() }
    timer.resume()
    self.timer = timer
  }

  private func tick() {
    guard let watch else { return }
    let statistics = engine.statistics
    let now = monotonicSeconds()
    if let last, last.statistics == statistics, now - last.time < Self.longestSilence { return }
    let text = event(watch.activity, statistics, after: last?.statistics.steps ?? Int64.max)
    last = (statistics, now)
    for body in lock.withLock({ Array(clients.values) }) { body.push(.text(text)) }
  }

  /// Formats the text directly: a tree of values would take ten times as long, while the engine needs all cores.
  private func event(_ activity: EngineActivity, _ now: EngineStatistics, after step: Int64) -> String {
    let cache = now.prefixCache
    var text = "event: step\ndata: {\"steps_total\":\(now.steps),\"running\":\(now.running),\"waiting\":\(now.waiting)"
    text += ",\"preemptions_total\":\(now.preemptions),\"blocks\":\(now.blocks),\"free_blocks\":\(now.freeBlocks)"
    text += ",\"cached_blocks\":\(cache.cachedBlocks),\"checkpoints\":\(cache.checkpoints)"
    text += ",\"max_checkpoints\":\(cache.maximumCheckpoints),\"checkpoint_bytes\":\(cache.checkpointBytes)"
    text += ",\"prefix_lookups_total\":\(cache.lookups),\"prefix_hits_total\":\(cache.hits)"
    text += ",\"prefix_cached_tokens_total\":\(cache.cachedTokens),\"computed_tokens_total\":\(now.computedTokens)"
    text += ",\"generated_tokens_total\":\(now.generatedTokens),\"lanes\":["
    var separator = ""
    for lane in activity.lanes {
      text += "\(separator){\"id\":\(lane.id),\"state\":\"\(lane.state.rawValue)\",\"prompt\":\(lane.promptTokens)"
      text += ",\"cached\":\(lane.cachedTokens),\"computed\":\(lane.computedTokens)"
      text += ",\"generated\":\(lane.generatedTokens),\"max_generated\":\(lane.maximumGeneratedTokens)"
      text += ",\"preemptions\":\(lane.preemptions)}"
      separator = ","
    }
    text += "],\"steps\":["
    separator = ""
    for record in activity.steps.suffix(Self.maximumSteps) where record.index > step {
      text += "\(separator){\"step\":\(record.index),\"read\":\(record.readTokens),\"answering\":\(record.answering)"
      text += ",\"drafts\":\(record.drafts),\"preempted\":\(record.preempted)"
      text += ",\"us\":\(Int(record.seconds * 1e6))}"
      separator = ","
    }
    return text + "]}\n\n"
  }
}

/// Events are already text; the end needs none.
private struct StatusEncoder: StreamEncoder {
  mutating func opening() -> String { "" }

  mutating func encode(_ item: StreamItem) -> (text: String, isLast: Bool) {
    switch item {
    case .text(let text): (text, false)
    case .keepAlive: (": keep-alive\n\n", false)
    case .cut(let reason): (": \(reason.message)\n\n", true)
    case .event: ("", false)
    }
  }
}
