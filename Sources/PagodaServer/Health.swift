// Health: the engine's state in /health, and a log line whenever it changes.
import Foundation
import PagodaKit

package struct Health: Equatable {
  package var running = 0
  package var waiting = 0
  package var isDraining = false
  /// Why no more answers can be generated; nil while the engine works.
  package var fault: String?
  /// The fault ends without a restart: a stage of the pipeline is lost, and the server waits for its return.
  package var recovers = false
  /// Whether there is a prefix folder, and why nothing is written there; nil if writing works.
  package var hasDisk = false
  package var diskReason: String?

  /// Which of several models are in memory; nil for a server of one.
  package var models: [(name: String, isLoaded: Bool)]?

  package init() {}

  package static func == (left: Health, right: Health) -> Bool { left.json == right.json }

  /// Another engine of the same server.
  mutating func add(_ other: Health) {
    running += other.running
    waiting += other.waiting
    isDraining = isDraining || other.isDraining
    if fault == nil || !other.recovers && other.fault != nil {
      (fault, recovers) = (other.fault ?? fault, other.recovers)
    }
    hasDisk = hasDisk || other.hasDisk
    diskReason = diskReason ?? other.diskReason
  }

  var status: String { fault != nil ? "failed" : isDraining ? "shutting_down" : "ok" }

  package var statusCode: Int { status == "ok" ? 200 : 503 }

  /// Whether a restart would not help: the engine works, or recovers by itself.
  package var isAlive: Bool { fault == nil || recovers }

  /// `/livez`: fails only if the process has to be restarted.
  var liveness: HTTPResponse {
    .json(.object(["status": .string(isAlive ? "ok" : "failed")]), status: isAlive ? 200 : 503)
  }

  package var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init(key: "status", value: .string(status)), .init(key: "running", value: .integer(Int64(running))),
      .init(key: "waiting", value: .integer(Int64(waiting))),
    ]
    if let fault { members.append(.init(key: "error", value: .string(fault))) }
    if hasDisk {
      var disk: [JSONValue.Member] = [.init(key: "writing", value: .bool(diskReason == nil))]
      if let diskReason { disk.append(.init(key: "reason", value: .string(diskReason))) }
      members.append(.init(key: "prefix_cache_disk", value: .object(disk)))
    }
    if let models {
      let states = models.map {
        JSONValue.Member(key: $0.name, value: .string($0.isLoaded ? "loaded" : "unloaded"))
      }
      members.append(.init(key: "models", value: .object(states)))
    }
    return .object(members)
  }

  var response: HTTPResponse { .json(json, status: statusCode) }

  /// The response while the model loads.
  static var loading: HTTPResponse {
    .json(
      .object(["status": .string("loading"), "running": .integer(0), "waiting": .integer(0)]), status: 503,
      headers: [HTTPHeader("Retry-After", "1")])
  }

  /// The log line when `self` follows `other`.
  package func changes(since other: Health) -> [String] {
    var lines: [String] = []
    if fault != other.fault {
      lines.append(fault.map { "the engine has failed, /health says so: \($0)" } ?? "the engine works again")
    }
    if diskReason != other.diskReason {
      lines.append(
        diskReason.map { "prefixes are not written to disk for now: \($0)" } ?? "prefixes are written to disk again")
    }
    return lines
  }
}

extension Health {
  init(_ statistics: EngineStatistics, isDraining: Bool) {
    self.init()
    running = statistics.running
    waiting = statistics.waiting
    self.isDraining = isDraining
    fault = statistics.fault
    hasDisk = statistics.disk != nil
    diskReason = statistics.disk?.offReason
  }
}

/// Remembers the last reported state.
final class HealthLog: @unchecked Sendable {
  private let lock = NSLock()
  private var last = Health()  // guarded by `lock`
  private let write: (@Sendable (String) -> Void)?

  init(_ write: (@Sendable (String) -> Void)?) { self.write = write }

  func note(_ health: Health) {
    guard let write else { return }
    let lines = lock.withLock {
      defer { last = health }
      return health.changes(since: last)
    }
    lines.forEach(write)
  }
}
