// Shared by the tests of the server: servers on free ports over one embedded model, and helpers that send requests.
import Foundation
import PagodaKit
import PagodaMini
import PagodaServer

enum Shared {
  private static let loading = Task { try await Engine.load(.mini) }
  private static let starting = Task { try await start() }

  static var engine: Engine {
    get async throws { try await loading.value }
  }

  /// One server for all tests that need no special options.
  static var server: Server {
    get async throws { try await starting.value }
  }

  static func start(_ change: (inout ServerOptions) -> Void = { _ in }) async throws -> Server {
    var options = ServerOptions()
    options.port = 0
    options.modelNames = ["pagoda-mini"]
    change(&options)
    return try Server.start(try await engine, options: options)
  }

  static let questions = [
    "What is the capital of France?", "What is the capital of Japan?", "What is 12 plus 30?", "Hello!",
    "write a quicksort in python", "Write a 2-sentence apple story.", "What is the capital of Peru?",
    "What is 7 plus 8?",
  ]

  static func chat(_ question: String, _ more: String = "") -> String {
    #"{"messages":[{"role":"user","content":\#(JSONValue.string(question).text)}]\#(more)}"#
  }

  /// A chat that runs for a long time unless it is stopped.
  static func endless(stream: Bool = true) -> String {
    chat("Hello!", #","stream":\#(stream),"ignore_eos":true,"max_tokens":8000"#)
  }
}

extension Server {
  func client(timeout: Double = 600) throws -> HTTPClient {
    try HTTPClient(host: "127.0.0.1", port: port, timeout: timeout)
  }

  func get(_ path: String, headers: [String: String] = [:], host: String = "localhost") throws -> HTTPClient.Response {
    let client = try client()
    try client.request("GET", path, host: host, headers: headers)
    return try client.response()
  }

  func post(_ path: String, _ body: String, headers: [String: String] = [:]) throws -> HTTPClient.Response {
    let client = try client()
    try client.request("POST", path, headers: headers, body: body)
    return try client.response()
  }

  func chat(_ body: String) throws -> HTTPClient.Response { try post("/v1/chat/completions", body) }
}

extension HTTPClient.Response {
  var json: JSONValue { JSONValue.parse(text) ?? .null }
  var error: JSONValue { json["error"] ?? .null }
  var answer: String? { json["choices"]?.arrayValue?.first?["message"]?["content"]?.stringValue }

  /// The data of a stream's events, without the closing mark.
  var events: [JSONValue] {
    text.split(separator: "\n").compactMap { $0.hasPrefix("data: ") ? JSONValue.parse(String($0.dropFirst(6))) : nil }
  }

  /// The text that a stream of chat chunks spells.
  var streamedAnswer: String {
    events.compactMap { $0["choices"]?.arrayValue?.first?["delta"]?["content"]?.stringValue }.joined()
  }
}

/// Starts blocking work on a separate thread, at once: a task would first wait for one of the few threads of tasks.
func background<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) -> Task<Value, any Error> {
  let (results, continuation) = AsyncStream.makeStream(of: Result<Value, any Error>.self)
  Thread {
    continuation.yield(Result { try work() })
    continuation.finish()
  }.start()
  return Task {
    for await result in results { return try result.get() }
    throw CancellationError()
  }
}

/// Runs blocking work many times concurrently and returns the results in order.
func together<Value: Sendable>(_ count: Int, _ work: @escaping @Sendable (Int) throws -> Value) async throws -> [Value]
{
  var results: [Value] = []
  for task in (0..<count).map({ index in background { try work(index) } }) { results.append(try await task.value) }
  return results
}

/// Waits up to five minutes for a condition that another thread will make true: a busy machine took more than twenty
/// seconds for 8000 events. On a thread of its own a test blocks, because a sleeping task is woken by the threads of
/// tasks, which may all be busy.
func eventually(_ condition: () -> Bool) async throws -> Bool {
  let end = ContinuousClock.now + .seconds(300)
  while !condition() {
    if ContinuousClock.now > end { return condition() }
    if OwnThread.isUsed { sleepBriefly() } else { try await Task.sleep(for: .milliseconds(10)) }
  }
  return true
}

private func sleepBriefly() { Thread.sleep(forTimeInterval: 0.01) }
