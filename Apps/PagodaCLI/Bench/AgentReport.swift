// AgentReport: turns per minute, time to the first token and cache hits by turn, and fairness between the agents.
import Foundation
import PagodaKit

package struct AgentReport {
  let turns: [AgentTurn]
  let seconds: Double
  let load: AgentLoad
  /// The load was ended before all turns were.
  let isCut: Bool

  package init(turns: [AgentTurn], seconds: Double, load: AgentLoad, isCut: Bool = false) {
    self.turns = turns
    self.seconds = seconds
    self.load = load
    self.isCut = isCut
  }

  private var good: [AgentTurn] { turns.filter { $0.error == nil } }

  private struct Row {
    var turn: Int
    var count: Int
    var times: [Double]  // milliseconds to the first token, ascending; none for an answer without visible text
    var promptTokens: Double  // mean
    var hitRate: Double
  }

  private var rows: [Row] {
    (0..<load.turns).compactMap { index in
      let at = good.filter { $0.turn == index }
      if at.isEmpty { return nil }
      let times = at.compactMap(\.firstToken).map { $0 * 1000 }.sorted()
      let prompt = at.reduce(0) { $0 + $1.promptTokens }
      let cached = at.reduce(0) { $0 + $1.cachedTokens }
      return Row(
        turn: index + 1, count: at.count, times: times, promptTokens: Double(prompt) / Double(at.count),
        hitRate: prompt == 0 ? 0 : Double(cached) / Double(prompt))
    }
  }

  private static func quantile(_ part: Double, of sorted: [Double]) -> Double? {
    sorted.isEmpty ? nil : sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
  }

  /// Each branch's turns per minute, over the time from its first turn to its last; of a load that was cut, to the end of
  /// the load. An agent without a turn has a rate of 0.
  package var rates: [Double] {
    let branches = Dictionary(grouping: good) { [$0.agent, $0.branch] }
    let served = branches.values.compactMap { turns -> Double? in
      guard let begin = turns.map(\.begin).min(), let last = turns.max(by: { $0.turn < $1.turn }) else { return nil }
      let end = isCut && last.turn + 1 < load.turns ? seconds : last.begin + last.end
      return end > begin ? Double(turns.count) * 60 / (end - begin) : nil
    }
    let unserved = (0..<load.agents).filter { branches[[$0, 0]] == nil }
    return unserved.map { _ in 0 } + served.sorted()
  }

  /// Jain's index: 1 if all have the same rate, 1/N if one gets everything.
  package var fairness: Double {
    let rates = rates
    let squares = rates.reduce(0) { $0 + $1 * $1 }
    let sum = rates.reduce(0, +)
    return squares == 0 ? 0 : sum * sum / (Double(rates.count) * squares)
  }

  private var totals: [(name: String, key: String, value: Double, isCount: Bool)] {
    let good = good
    let prompt = Double(good.reduce(0) { $0 + $1.promptTokens })
    let cached = Double(good.reduce(0) { $0 + $1.cachedTokens })
    let rates = rates
    return [
      ("Agents", "agents", Double(load.agents), true),
      ("Turns completed", "completed", Double(good.count), true),
      ("Turns failed", "failed", Double(turns.count - good.count), true),
      ("Turns with a tool call", "calls", Double(good.count(where: \.isCall)), true),
      ("Benchmark duration (s)", "duration", seconds, false),
      ("Turns per minute", "turns_per_minute", Double(good.count) * 60 / seconds, false),
      ("Prompt tokens", "prompt_tokens", prompt, true),
      ("Cached prompt tokens (%)", "cached_percent", prompt == 0 ? 0 : cached * 100 / prompt, false),
      ("Generated tokens", "output_tokens", Double(good.reduce(0) { $0 + $1.outputTokens }), true),
      ("Fairness (Jain)", "fairness", fairness, false),
      ("Slowest agent, turns per minute", "slowest", rates.first ?? 0, false),
      ("Fastest agent, turns per minute", "fastest", rates.last ?? 0, false),
    ]
  }

  /// - Parameter width: columns of the terminal; nil for a pipe.
  package func table(width: Int? = nil) -> String {
    let narrow = width.flatMap { $0 < 77 ? $0 : nil }
    var out = columns(
      totals.map { ("\($0.name):", String(format: $0.isCount ? "%.0f" : "%.2f", $0.value)) }, width: narrow)
    out += narrow.map(turnsBelowEachOther) ?? turnTable
    let cut = isCut ? "interrupted after \(good.count) of \(load.turnCount) turns\n" : ""
    let failure = turns.compactMap(\.error).first.map { "first failure: \(Terminal.printable($0))\n" } ?? ""
    return out + (width.map { wrapped(cut + failure, width: $0) } ?? cut + failure)
  }

  private func turnsBelowEachOther(_ width: Int) -> String {
    rows.map { row in
      func time(_ part: Double) -> String {
        Self.quantile(part, of: row.times).map { String(format: "%.1f ms", $0) } ?? "-"
      }
      return "\n"
        + columns(
          [
            ("turn", String(row.turn)), ("  count", String(row.count)), ("  TTFT p50", time(0.5)),
            ("  p95", time(0.95)),
            ("  worst", time(1)), ("  prompt", String(format: "%.0f tokens", row.promptTokens)),
            ("  cached", String(format: "%.1f %%", row.hitRate * 100)),
          ], width: width)
    }.joined()
  }

  private var turnTable: String {
    var out = "\nturn  count  TTFT p50 (ms)   p95 (ms)  worst (ms)  prompt tokens  cached (%)\n"
    func time(_ part: Double, _ row: Row, width: Int) -> String {
      let text = Self.quantile(part, of: row.times).map { String(format: "%.1f", $0) } ?? "-"
      return String(repeating: " ", count: max(1, width - text.count)) + text
    }
    for row in rows {
      out += String(format: "%4d %6d", row.turn, row.count)
      out += time(0.5, row, width: 15) + time(0.95, row, width: 11) + time(1, row, width: 12)
      out += String(format: " %14.0f %11.1f\n", row.promptTokens, row.hitRate * 100)
    }
    return out
  }

  package var json: JSONValue {
    var members = totals.map {
      JSONValue.Member(key: $0.key, value: $0.isCount ? .integer(Int64($0.value)) : .number($0.value))
    }
    let list = rows.map { row in
      func time(_ part: Double) -> JSONValue { Self.quantile(part, of: row.times).map(JSONValue.number) ?? .null }
      return JSONValue.object([
        "turn": .integer(Int64(row.turn)), "count": .integer(Int64(row.count)), "median_ttft_ms": time(0.5),
        "p95_ttft_ms": time(0.95), "worst_ttft_ms": time(1), "prompt_tokens": .number(row.promptTokens),
        "cached_percent": .number(row.hitRate * 100),
      ])
    }
    if isCut { members.append(.init(key: "interrupted", value: .bool(true))) }
    members.append(.init(key: "by_turn", value: .array(list)))
    members.append(.init(key: "errors", value: .array(turns.compactMap(\.error).prefix(5).map { .string($0) })))
    return .object(members)
  }
}
