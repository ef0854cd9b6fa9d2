// RequestSpans: a finished request as OpenTelemetry spans in OTLP's JSON: the request, and for each answer the times in
// the queue, in prefill and in decode, and those of tool calls. They contain no prompt and no answer.
import Foundation
import PagodaKit

struct RequestSpans: Sendable {
  private let trace: TraceContext
  private let method: String
  private let path: String
  private let id: String
  private let status: Int
  private let begin: Double
  private let end: Double
  private let record: AccessRecord.Snapshot
  /// Seconds from the start of the monotonic clock to the Unix epoch.
  private let clockOffset: Double

  /// Nil if the request belongs to no trace, or its client records none.
  init?(_ exchange: Exchange) {
    guard let trace = exchange.trace, trace.isSampled else { return nil }
    self.trace = trace
    method = AccessRecord.plain(exchange.head.method, 20)
    // Other paths are arbitrary text of the client, which would make as many names of spans.
    path = Service.routes[exchange.head.path] == nil ? "" : exchange.head.path
    id = exchange.id
    status = exchange.status
    begin = exchange.start
    end = monotonicSeconds()
    record = exchange.record.snapshot
    clockOffset = Date().timeIntervalSince1970 - end
  }

  var count: Int { 1 + 3 * record.answers.count + record.calls.count }

  var json: [JSONValue] {
    var attributes: [(String, JSONValue)] = [
      ("http.request.method", .string(method)), ("http.response.status_code", .integer(Int64(status))),
      ("pagoda.request_id", .string(id)),
    ]
    if !path.isEmpty { attributes.append(("http.route", .string(path))) }
    if let model = record.model {
      attributes += [
        ("gen_ai.request.model", .string(model)), ("gen_ai.usage.input_tokens", .integer(Int64(record.promptTokens))),
        ("gen_ai.usage.output_tokens", .integer(Int64(record.completionTokens))),
        ("pagoda.cached_tokens", .integer(Int64(record.cachedTokens))),
        ("gen_ai.response.finish_reasons", .string(Set(record.finishes).sorted().joined(separator: ","))),
      ]
    }
    let name = path.isEmpty ? method : "\(method) \(path)"
    let isError = status >= 500 || record.finishes.contains("error")
    var spans = [
      span(name, trace.spanID, parent: trace.parentID, kind: 2, begin, end, attributes, isError: isError)
    ]
    for (index, answer) in record.answers.enumerated() {
      var time = answer.submitted
      let phases = [
        ("queue", answer.timings.queueMilliseconds), ("prefill", answer.timings.promptMilliseconds),
        ("decode", answer.timings.generationMilliseconds),
      ]
      for (phase, milliseconds) in phases {
        let next = time + milliseconds / 1000
        spans.append(child(phase, time, next, [("pagoda.answer", .integer(Int64(index)))]))
        time = next
      }
    }
    for call in record.calls {
      spans.append(child("tool_call", call.begin, call.end ?? end, [("gen_ai.tool.name", .string(call.name))]))
    }
    return spans
  }

  private func child(_ name: String, _ begin: Double, _ end: Double, _ attributes: [(String, JSONValue)]) -> JSONValue {
    span(name, TraceContext.randomHex(16), parent: trace.spanID, kind: 1, begin, end, attributes, isError: false)
  }

  private func span(
    _ name: String, _ id: String, parent: String?, kind: Int64, _ begin: Double, _ end: Double,
    _ attributes: [(String, JSONValue)], isError: Bool
  ) -> JSONValue {
    func nanoseconds(_ time: Double) -> JSONValue { .string(String(UInt64(max(0, (time + clockOffset) * 1e9)))) }
    var members: [JSONValue.Member] = [
      .init(key: "traceId", value: .string(trace.traceID)), .init(key: "spanId", value: .string(id)),
      .init(key: "name", value: .string(name)), .init(key: "kind", value: .integer(kind)),
      .init(key: "startTimeUnixNano", value: nanoseconds(begin)),
      .init(key: "endTimeUnixNano", value: nanoseconds(end)),
      .init(key: "attributes", value: Self.attributes(attributes)),
    ]
    if let parent { members.append(.init(key: "parentSpanId", value: .string(parent))) }
    if let state = trace.state { members.append(.init(key: "traceState", value: .string(state))) }
    if isError { members.append(.init(key: "status", value: .object(["code": .integer(2)]))) }
    return .object(members)
  }

  /// OTLP's list of keys and typed values; integers are text there.
  static func attributes(_ pairs: [(String, JSONValue)]) -> JSONValue {
    .array(
      pairs.map { key, value in
        let typed: JSONValue =
          value.intValue.map { .object(["intValue": .string(String($0))]) } ?? .object(["stringValue": value])
        return .object(["key": .string(key), "value": typed])
      })
  }
}
