// Metrics: the server's counters in Prometheus' text format, and the texts of its models as one.
import Foundation

final class Metrics: @unchecked Sendable {
  var droppedLogLines: (@Sendable () -> Int)?  // set before the server starts
  var spans: (@Sendable () -> SpanExporter.Counts)?  // set before the server starts
  private let lock = NSLock()
  private var responses: [Int: Int] = [:]  // guarded by `lock`

  func answered(status: Int) { lock.withLock { responses[status, default: 0] += 1 } }

  static func single(_ name: String, _ type: String, _ help: String, _ value: String) -> String {
    "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n\(name) \(value)\n"
  }

  /// Counters of the server, over all of its models.
  func text(connections: Int) -> String {
    var out = Self.single("pagoda:http_connections", "gauge", "Open connections.", "\(connections)")
    if let droppedLogLines {
      out += Self.single(
        "pagoda:log_lines_dropped_total", "counter", "Log lines dropped because the reader was too slow.",
        "\(droppedLogLines())"
      )
    }
    if let spans = spans?() {
      out += Self.single("pagoda:spans_sent_total", "counter", "Spans that the collector accepted.", "\(spans.sent)")
      out += Self.single(
        "pagoda:spans_dropped_total", "counter", "Spans dropped: the collector was too slow or refused them.",
        "\(spans.dropped)")
    }
    out += "# HELP pagoda:http_responses_total Responses by status.\n# TYPE pagoda:http_responses_total counter\n"
    for (status, count) in lock.withLock({ responses }).sorted(by: { $0.key < $1.key }) {
      out += "pagoda:http_responses_total{status=\"\(status)\"} \(count)\n"
    }
    return out
  }

  /// A value of a label, quoted.
  static func quoted(_ value: String) -> String {
    let text = value.reduce(into: "") { text, character in
      if character == "\\" || character == "\"" { text.append("\\") }
      text.append(character.isNewline ? " " : character)
    }
    return "\"\(text)\""
  }

  /// The texts of the models as one, distinguished by the label `model_name`, which vLLM's dashboards select by.
  static func labelled(_ texts: [(name: String, text: String)]) -> String {
    var order: [String] = []
    var families: [String: (head: String, samples: String)] = [:]
    for (name, text) in texts {
      let label = "model_name=\(quoted(name))"
      var family = ""
      for line in text.split(separator: "\n") {
        if line.hasPrefix("# HELP ") { family = String(line.dropFirst(7).prefix { $0 != " " }) }
        if families[family] == nil {
          order.append(family)
          families[family] = ("", "")
        }
        if line.hasPrefix("#") {
          if families[family]?.samples.isEmpty ?? false { families[family]?.head += line + "\n" }
        } else if let brace = line.firstIndex(of: "{") {
          families[family]?.samples += "\(line[..<brace]){\(label),\(line[line.index(after: brace)...])\n"
        } else {
          let space = line.firstIndex(of: " ") ?? line.endIndex
          families[family]?.samples += "\(line[..<space]){\(label)}\(line[space...])\n"
        }
      }
    }
    return order.map { (families[$0]?.head ?? "") + (families[$0]?.samples ?? "") }.joined()
  }
}
