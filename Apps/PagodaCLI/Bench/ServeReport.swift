// ServeReport: the measurements of a load, under vLLM's names.
import Foundation
import PagodaKit

struct ServeReport {
  let results: [ServeResult]
  let seconds: Double
  let load: ServeLoad

  private struct Times {
    let name: String
    let key: String
    let milliseconds: [Double]

    init(_ name: String, _ key: String, _ seconds: [Double]) {
      self.name = name
      self.key = key
      milliseconds = seconds.map { $0 * 1000 }.sorted()
    }

    var mean: Double { milliseconds.isEmpty ? 0 : milliseconds.reduce(0, +) / Double(milliseconds.count) }

    /// Linear interpolation between the two nearest values.
    func percentile(_ percent: Double) -> Double {
      guard let last = milliseconds.last else { return 0 }
      let rank = percent / 100 * Double(milliseconds.count - 1)
      let index = Int(rank)
      guard index + 1 < milliseconds.count else { return last }
      return milliseconds[index] + (rank - Double(index)) * (milliseconds[index + 1] - milliseconds[index])
    }
  }

  private var good: [ServeResult] { results.filter { $0.error == nil } }

  private var times: [Times] {
    let good = good
    let perToken = good.compactMap { result -> Double? in
      guard let first = result.tokenTimes.first, result.outputTokens > 1 else { return nil }
      return (result.end - first) / Double(result.outputTokens - 1)
    }
    let gaps = good.flatMap { zip($0.tokenTimes.dropFirst(), $0.tokenTimes).map { $0 - $1 } }
    return [
      Times("Time to First Token", "ttft", good.compactMap(\.tokenTimes.first)),
      Times("Time per Output Token (excl. 1st token)", "tpot", perToken),
      Times("Inter-token Latency", "itl", gaps),
      Times("End-to-end Latency", "e2el", good.map(\.end)),
    ]
  }

  /// Results per server behind a router; nil if answers name no server.
  private struct ReplicaRow {
    let name: String
    let requests: Int
    let promptTokens: Int
    let cachedTokens: Int

    var hitRate: Double { promptTokens == 0 ? 0 : Double(cachedTokens) / Double(promptTokens) }
  }

  private var replicas: [ReplicaRow] {
    let groups = Dictionary(grouping: good.filter { $0.replica != nil }) { $0.replica ?? "" }
    return groups.sorted { $0.key < $1.key }.map { name, results in
      ReplicaRow(
        name: name, requests: results.count, promptTokens: results.reduce(0) { $0 + $1.promptTokens },
        cachedTokens: results.reduce(0) { $0 + $1.cachedTokens })
    }
  }

  private var totals: [(name: String, key: String, value: Double, isCount: Bool)] {
    let good = good
    let input = Double(good.reduce(0) { $0 + $1.promptTokens })
    let output = Double(good.reduce(0) { $0 + $1.outputTokens })
    return [
      ("Successful requests", "completed", Double(good.count), true),
      ("Failed requests", "failed", Double(results.count - good.count), true),
      ("Benchmark duration (s)", "duration", seconds, false),
      ("Total input tokens", "total_input_tokens", input, true),
      ("Total cached input tokens", "total_cached_tokens", Double(good.reduce(0) { $0 + $1.cachedTokens }), true),
      ("Total generated tokens", "total_output_tokens", output, true),
      ("Request throughput (req/s)", "request_throughput", Double(good.count) / seconds, false),
      ("Output token throughput (tok/s)", "output_throughput", output / seconds, false),
      ("Total token throughput (tok/s)", "total_token_throughput", (input + output) / seconds, false),
    ]
  }

  /// As vLLM's; in a terminal that is narrower than its lines, values stand close to their names.
  /// - Parameter width: columns of the terminal; nil for a pipe.
  func table(width: Int? = nil) -> String {
    let narrow = width.flatMap { $0 < 50 ? $0 : nil }
    func heading(_ text: String, _ fill: Character) -> String {
      if let narrow { return wrapped("\n\(text)", width: narrow) + "\n" }
      let left = (50 - text.count - 2) / 2
      return String(repeating: fill, count: left) + " \(text) " + String(repeating: fill, count: 48 - left - text.count)
        + "\n"
    }
    func row(_ name: String, _ value: String) -> String {
      if let narrow { return wrapped("\(name): \(value)", width: narrow, indent: 2) + "\n" }
      return "\(name):".padding(toLength: 40, withPad: " ", startingAt: 0) + " \(value)\n"
    }
    var out = heading("Serving Benchmark Result", "=")
    for total in totals { out += row(total.name, String(format: total.isCount ? "%.0f" : "%.2f", total.value)) }
    for time in times {
      let short = time.key.uppercased()
      out += heading(time.name, "-")
      out += row("Mean \(short) (ms)", String(format: "%.2f", time.mean))
      out += row("Median \(short) (ms)", String(format: "%.2f", time.percentile(50)))
      out += row("P99 \(short) (ms)", String(format: "%.2f", time.percentile(99)))
    }
    if !replicas.isEmpty { out += heading("Replicas", "-") }
    for replica in replicas {
      let share = String(format: "%d requests, %.1f %% cached", replica.requests, replica.hitRate * 100)
      out += row(Terminal.printable(replica.name), share)
    }
    out += narrow == nil ? String(repeating: "=", count: 50) + "\n" : ""
    let failure = results.compactMap(\.error).first.map { "first failure: \(Terminal.printable($0))\n" } ?? ""
    return out + (width.map { wrapped(failure, width: $0) } ?? failure)
  }

  var json: JSONValue {
    var members = totals.map {
      JSONValue.Member(key: $0.key, value: $0.isCount ? .integer(Int64($0.value)) : .number($0.value))
    }
    for time in times {
      members += [
        .init(key: "mean_\(time.key)_ms", value: .number(time.mean)),
        .init(key: "median_\(time.key)_ms", value: .number(time.percentile(50))),
        .init(key: "p99_\(time.key)_ms", value: .number(time.percentile(99))),
      ]
    }
    if !replicas.isEmpty {
      let rows = replicas.map { replica in
        JSONValue.object([
          "name": .string(replica.name), "completed": .integer(Int64(replica.requests)),
          "prompt_tokens": .integer(Int64(replica.promptTokens)),
          "cached_tokens": .integer(Int64(replica.cachedTokens)), "hit_rate": .number(replica.hitRate),
        ])
      }
      members.append(.init(key: "replicas", value: .array(rows)))
    }
    members.append(.init(key: "max_concurrency", value: .integer(Int64(load.concurrency))))
    members.append(.init(key: "request_rate", value: load.rate.isFinite ? .number(load.rate) : .string("inf")))
    members.append(.init(key: "errors", value: .array(results.compactMap(\.error).prefix(5).map { .string($0) })))
    return .object(members)
  }
}
