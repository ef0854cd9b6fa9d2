// ServerReading: one sample of a server's /metrics, and its display.
import Foundation

/// The values of one sample, by name; labels are dropped and their rows summed.
package struct ServerReading {
  package var time = Date()
  package var values: [String: Double] = [:]

  package init(metrics: String) {
    for line in metrics.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: " ")
      guard parts.count == 2, let value = Double(parts[1]) else { continue }
      values[String(parts[0].prefix { $0 != "{" }), default: 0] += value
    }
  }

  package subscript(name: String) -> Double { values[name] ?? 0 }

  /// The rate per second between two samples.
  package func rate(of name: String, since last: ServerReading) -> Double {
    let seconds = time.timeIntervalSince(last.time)
    return seconds > 0 ? max(self[name] - last[name], 0) / seconds : 0
  }

  package func lines(since last: ServerReading?, rates: [Double], url: String, width: Int) -> [String] {
    let barWidth = max(min(width, 100) - 30, 10)
    let found = self["vllm:prefix_cache_hits_total"], asked = self["vllm:prefix_cache_queries_total"]
    var lines = ["\(Style.bold("pagoda top"))  \(url)", ""]
    lines.append(
      "requests    \(Int(self["vllm:num_requests_running"])) running, "
        + "\(Int(self["vllm:num_requests_waiting"])) waiting, \(Int(self["vllm:num_preemptions_total"])) preempted so far"
    )
    lines.append("KV cache    \(bar(self["vllm:kv_cache_usage_perc"], barWidth))")
    lines.append("prefix hits \(bar(asked > 0 ? found / asked : 0, barWidth))  of \(Int(asked)) prompt tokens")
    if let last {
      let computed = rate(of: "pagoda:computed_tokens_total", since: last)
      lines.append(
        String(
          format: "speed       %.0f tokens/s generated, %.0f tokens/s computed, %.0f steps/s",
          rate(of: "pagoda:generated_tokens_total", since: last), computed,
          rate(of: "pagoda:engine_steps_total", since: last)))
    }
    if !rates.isEmpty { lines.append("            \(Style.accent(sparkline(rates.suffix(barWidth))))") }
    lines.append(
      "answers     \(Int(self["vllm:request_success_total"])) so far, "
        + "\(Int(self["vllm:generation_tokens_total"])) tokens")
    return lines
  }
}

/// A bar of `width` columns, and the share in per cent.
func bar(_ fraction: Double, _ width: Int) -> String {
  let part = min(max(fraction, 0), 1)
  let filled = Int((part * Double(width)).rounded())
  return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled) + " \(Int(part * 100)) %"
}

/// One character per number, scaled to the largest.
package func sparkline(_ numbers: some Sequence<Double>) -> String {
  let values = Array(numbers)
  let top = max(values.max() ?? 0, 1e-9)
  let marks = Array("▁▂▃▄▅▆▇█")
  return String(values.map { marks[min(Int($0 / top * 7.999), 7)] })
}
