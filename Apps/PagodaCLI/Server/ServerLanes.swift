// ServerLanes: one event of a server's /status/events as lines of a terminal, and the thread that reads the stream.
import Foundation
import PagodaKit
import PagodaServer

/// The state of each request when the event was sent.
package struct ServerLanes: Sendable {
  struct Lane: Sendable {
    var id: Int64
    var state: String
    var prompt, cached, computed, generated: Int64
  }

  var lanes: [Lane] = []
  var running: Int64 = 0
  var waiting: Int64 = 0
  var checkpoints: Int64 = 0
  var maximumCheckpoints: Int64 = 0

  /// Nil if the data is not such an event.
  package init?(event data: String) {
    guard let json = JSONValue.parse(data), let list = json["lanes"]?.arrayValue else { return nil }
    func number(_ value: JSONValue, _ name: String) -> Int64 { value[name]?.intValue ?? 0 }
    running = number(json, "running")
    waiting = number(json, "waiting")
    checkpoints = number(json, "checkpoints")
    maximumCheckpoints = number(json, "max_checkpoints")
    lanes = list.map {
      Lane(
        id: number($0, "id"), state: $0["state"]?.stringValue ?? "", prompt: number($0, "prompt"),
        cached: number($0, "cached"), computed: number($0, "computed"), generated: number($0, "generated"))
    }.sorted { $0.id < $1.id }
  }

  /// The number of cached recurrent states, and a line for each request, at most `rows` of them.
  package func lines(width: Int, rows: Int) -> [String] {
    let barWidth = max(min(width, 100) - 30, 10)
    let share = maximumCheckpoints > 0 ? Double(checkpoints) / Double(maximumCheckpoints) : 0
    let states = "states kept \(bar(share, barWidth))  \(checkpoints) of \(maximumCheckpoints)"
    var lines = wrapped(states, width: width).split(separator: "\n").map(String.init)
    if !lanes.isEmpty { lines.append("") }
    let longest = max(lanes.map(\.generated).max() ?? 0, 64)
    let isCut = lanes.count > max(rows - 2, 1)
    for lane in lanes.prefix(isCut ? max(rows - 3, 1) : lanes.count) {
      lines.append(line(of: lane, longest: longest, width: width))
    }
    if isCut { lines.append("... and \(lanes.count - max(rows - 3, 1)) more") }
    return lines.map { Style.isColoured ? $0 : clipped($0, to: width) }
  }

  /// ` 12 answering [####==    ] 31 tokens`: the prompt in the left half of the bar, the answer in the right half.
  private func line(of lane: Lane, longest: Int64, width: Int) -> String {
    let half = max(min((width - 52) / 2, 20), 3)
    let isRunning = lane.state == "reading" || lane.state == "answering"
    let read = isRunning ? min(lane.computed, lane.prompt) : 0
    func part(_ count: Int64, of all: Int64) -> Int { all > 0 ? Int(count * Int64(half) / all) : 0 }
    let filled = (part(read, of: lane.prompt), part(min(lane.generated, longest), of: longest))
    let bar =
      String(repeating: "▒", count: filled.0) + String(repeating: "·", count: half - filled.0)
      + Style.accent(String(repeating: "█", count: filled.1)) + String(repeating: "·", count: half - filled.1)
    let name = "#\(lane.id)", state = lane.state
    let words =
      switch state {
      case "waiting": "\(lane.prompt) tokens to read"
      case "preempted": "preempted after \(lane.generated) tokens"
      case "reading": "\(read) of \(lane.prompt) tokens read"
      default: "\(lane.generated) tokens"
      }
    let cached = lane.cached > 0 && isRunning ? ", \(lane.cached) cached" : ""
    return name + String(repeating: " ", count: max(6 - name.count, 1))
      + state + String(repeating: " ", count: max(11 - state.count, 1)) + bar + " " + words + cached
  }
}

/// Reads the events of a server on its own thread. An older server without events has no lanes.
final class LaneStream: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: ServerLanes?  // guarded by `lock`
  private var hasEnded = false  // guarded by `lock`

  init(host: String, port: UInt16, key: String?) {
    Thread { [self] in
      var held: [UInt8] = []
      try? Self.read(host: host, port: port, key: key) { bytes in
        held += bytes
        while let end = held.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: held[..<end], as: UTF8.self)
          held.removeFirst(end + 1)
          guard line.hasPrefix("data: "), let event = ServerLanes(event: String(line.dropFirst(6))) else { continue }
          lock.withLock { stored = event }
        }
      }
      lock.withLock { (stored, hasEnded) = (nil, true) }
    }.start()
  }

  private static func read(
    host: String, port: UInt16, key: String?, onData: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    let client = try HTTPClient(host: host, port: port, timeout: 60)
    try client.request(
      "GET", "/status/events", host: "\(host):\(port)", headers: key.map { ["Authorization": "Bearer \($0)"] } ?? [:])
    _ = try client.response(keepsBody: false, onData: onData)
  }

  var latest: ServerLanes? { lock.withLock { stored } }

  /// The first event that includes every running request: lanes are recorded from the first watched step on.
  func settled() -> ServerLanes? {
    for _ in 0..<300 {
      let (event, isOver) = lock.withLock { (stored, hasEnded) }
      if isOver { return nil }
      if let event, Int64(event.lanes.count) >= min(event.running + event.waiting, 128) { return event }
      usleep(10_000)
    }
    return latest
  }
}
