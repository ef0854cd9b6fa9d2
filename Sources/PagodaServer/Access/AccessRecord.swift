// AccessRecord: the entry of one request in the access log. It contains no prompt, no answer and no key.
import Foundation
import PagodaKit

/// Filled in by any thread while a request is answered.
final class AccessRecord: @unchecked Sendable {
  private let lock = NSLock()
  // Guarded by `lock`.
  private var model: String?
  private var promptTokens = 0
  private var cachedTokens = 0
  private var completionTokens = 0
  private var firstToken: Double?
  private var finishes: [String] = []
  private var answers: [AnswerTimes] = []
  private var calls: [CallTimes] = []

  func begin(model: String) { lock.withLock { self.model = model } }

  /// A part of an answer has arrived, which was submitted at that time if its phases are of interest.
  func note(_ segment: AnswerSegment, submitted: Double? = nil) {
    if case .progress = segment { return }
    lock.withLock {
      let now = monotonicSeconds()
      if firstToken == nil { firstToken = now }
      switch segment {
      case .callBegin(_, _, let name):
        if calls.count < Self.maximumCalls { calls.append(CallTimes(name: Self.plain(name, 100), begin: now)) }
      case .callEnd: if let last = calls.indices.last, calls[last].end == nil { calls[last].end = now }
      case .finished(let completion, _):
        promptTokens += completion.usage.promptTokens
        cachedTokens += completion.usage.cachedTokens
        completionTokens += completion.usage.completionTokens
        finishes.append(completion.finishReason.rawValue)
        if let submitted { answers.append(AnswerTimes(submitted: submitted, timings: completion.timings)) }
      default: break
      }
    }
  }

  private static let maximumCalls = 64

  /// Everything that spans are made of.
  var snapshot: Snapshot {
    lock.withLock {
      Snapshot(
        model: model, promptTokens: promptTokens, cachedTokens: cachedTokens, completionTokens: completionTokens,
        finishes: finishes, answers: answers, calls: calls)
    }
  }

  func fail() { lock.withLock { finishes.append("error") } }

  /// Tokens of prompts and answers together.
  var tokens: Int { lock.withLock { promptTokens + completionTokens } }

  /// One line. `address` is that of the client, which differs from the connection's if a trusted proxy reported it. `cut`:
  /// the client did not get all of the answer.
  func line(of exchange: Exchange, address: String, key: String?, now: Double = monotonicSeconds()) -> String {
    lock.withLock {
      func milliseconds(_ seconds: Double) -> JSONValue { .number((seconds * 10_000).rounded() / 10) }
      let request = exchange.head
      var members: [JSONValue.Member] = [
        .init(key: "time", value: .string(Date().ISO8601Format(Self.timeStyle))),
        .init(key: "id", value: .string(exchange.id)),
        .init(key: "address", value: .string(address.isEmpty ? "unix" : address)),
        .init(key: "key", value: key.map { .string($0) } ?? .null),
        .init(key: "method", value: .string(Self.plain(request.method, 20))),
        .init(key: "path", value: .string(Self.plain(request.path, 200))),
        .init(key: "status", value: .integer(Int64(exchange.status))),
        .init(key: "duration_ms", value: milliseconds(now - exchange.start)),
        .init(key: "bytes", value: .integer(Int64(exchange.sentBytes))),
        .init(key: "cut", value: .bool(!exchange.isWhole)),
      ]
      if address != request.address {
        members.append(.init(key: "proxy", value: .string(request.address.isEmpty ? "unix" : request.address)))
      }
      if let trace = exchange.trace { members.append(.init(key: "trace_id", value: .string(trace.traceID))) }
      if let model {
        members += [
          .init(key: "model", value: .string(model)),
          .init(key: "prompt_tokens", value: .integer(Int64(promptTokens))),
          .init(key: "cached_tokens", value: .integer(Int64(cachedTokens))),
          .init(key: "completion_tokens", value: .integer(Int64(completionTokens))),
          .init(key: "ttft_ms", value: firstToken.map { milliseconds($0 - exchange.start) } ?? .null),
          .init(key: "finish", value: .string(Set(finishes).sorted().joined(separator: ","))),
        ]
      }
      return JSONValue.object(members).text
    }
  }

  private static let timeStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// Removes everything that a terminal would interpret.
  static func plain(_ text: String, _ count: Int) -> String { text.prefix(count).filter { $0 > " " && $0 <= "~" } }
}

extension AccessRecord {
  /// Seconds of the monotonic clock.
  struct AnswerTimes: Sendable {
    var submitted: Double
    var timings: Timings
  }

  /// When the arguments of a tool call were generated.
  struct CallTimes: Sendable {
    var name: String
    var begin: Double
    var end: Double?
  }

  struct Snapshot: Sendable {
    var model: String?
    var promptTokens: Int
    var cachedTokens: Int
    var completionTokens: Int
    var finishes: [String]
    var answers: [AnswerTimes]
    var calls: [CallTimes]
  }
}
