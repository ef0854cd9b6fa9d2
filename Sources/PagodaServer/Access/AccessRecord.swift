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

  func begin(model: String) { lock.withLock { self.model = model } }

  /// The engine has reported on the answer.
  func note(_ event: Event) {
    if case .promptProgress = event { return }
    lock.withLock {
      if firstToken == nil { firstToken = monotonicSeconds() }
      guard case .finished(let completion) = event else { return }
      promptTokens += completion.usage.promptTokens
      cachedTokens += completion.usage.cachedTokens
      completionTokens += completion.usage.completionTokens
      finishes.append(completion.finishReason.rawValue)
    }
  }

  func fail() { lock.withLock { finishes.append("error") } }

  /// Tokens of prompts and answers together.
  var tokens: Int { lock.withLock { promptTokens + completionTokens } }

  /// One line. `cut`: the client did not get all of the answer.
  func line(of exchange: Exchange, key: String?, now: Double = monotonicSeconds()) -> String {
    lock.withLock {
      func milliseconds(_ seconds: Double) -> JSONValue { .number((seconds * 10_000).rounded() / 10) }
      let request = exchange.head
      var members: [JSONValue.Member] = [
        .init(key: "time", value: .string(Date().ISO8601Format(Self.timeStyle))),
        .init(key: "id", value: .string(exchange.id)),
        .init(key: "address", value: .string(request.address.isEmpty ? "unix" : request.address)),
        .init(key: "key", value: key.map { .string($0) } ?? .null),
        .init(key: "method", value: .string(Self.plain(request.method, 20))),
        .init(key: "path", value: .string(Self.plain(request.path, 200))),
        .init(key: "status", value: .integer(Int64(exchange.status))),
        .init(key: "duration_ms", value: milliseconds(now - exchange.start)),
        .init(key: "bytes", value: .integer(Int64(exchange.sentBytes))),
        .init(key: "cut", value: .bool(!exchange.isWhole)),
      ]
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
