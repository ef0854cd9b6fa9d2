// ServeLoad: the requests to send, their timing, and the results.
import Foundation
import PagodaKit
import PagodaServer

/// One request of a load.
struct ServePrompt: Sendable {
  var text: String?
  var ids: [Int32] = []
  var outputTokens: Int
  var ignoresEnd: Bool
}

/// One request as the client saw it; times are seconds since the request was sent.
struct ServeResult: Sendable {
  var begin = 0.0  // when it was sent, since the load began
  var promptTokens = 0
  var cachedTokens = 0
  var replica: String?  // the name of the server behind a router that answered
  var outputTokens = 0
  var tokenTimes: [Double] = []
  var end = 0.0
  var error: String?
}

struct ServeLoad: Sendable {
  var count: Int
  var rate: Double  // infinite: all at once
  var concurrency: Int
  var dataset: String
  var path: String?
  var inputTokens: Int
  var outputTokens: Int
  var vocabularySize: Int
  var ignoresEnd: Bool
  var prefixCount: Int
  var prefixTokens: Int
  var seed: UInt64

  init(_ arguments: Arguments) throws {
    let counts = Int64(1)...1_000_000
    count = Int(try arguments.integer("num-prompts", in: counts) ?? 100)
    let rateText = arguments.string("request-rate") ?? "inf"
    guard let rate = Double(rateText), rate > 0 else {
      throw UsageError("--request-rate is '\(rateText)'; it must be a number above 0, or inf")
    }
    self.rate = rate
    concurrency = Int(try arguments.integer("max-concurrency", in: 1...4096) ?? Int64(min(count, 4096)))
    dataset =
      try arguments.choice("dataset-name", of: ["random", "prefix_repetition", "sharegpt", "builtin"]) ?? "random"
    path = arguments.string("dataset-path")
    if (dataset == "sharegpt") != (path != nil) {
      throw UsageError("--dataset-path and the dataset sharegpt need each other")
    }
    inputTokens = Int(try arguments.integer("random-input-len", in: counts) ?? 128)
    outputTokens = Int(try arguments.integer("random-output-len", in: counts) ?? 64)
    vocabularySize = Int(try arguments.integer("vocab-size", in: 8...Int64(Int32.max)) ?? 4000)
    ignoresEnd = arguments.has("ignore-eos")
    prefixCount = Int(try arguments.integer("prefix-repetition-num-prefixes", in: counts) ?? 10)
    prefixTokens = Int(try arguments.integer("prefix-repetition-prefix-len", in: counts) ?? 256)
    seed = UInt64(try arguments.integer("seed", in: 0...Int64.max) ?? 0)
  }

  func prompts() throws -> [ServePrompt] {
    var random = SeededGenerator(seed: seed)
    switch dataset {
    case "sharegpt": return try shareGPT(using: &random)
    case "builtin":
      let questions = [
        "What is the capital of France?", "What is 12 plus 30?", "Write a 2-sentence apple story.", "Hello!",
        "write a quicksort in python", "What is the capital of Japan?",
      ]
      return (0..<count).map {
        ServePrompt(text: questions[$0 % questions.count], outputTokens: outputTokens, ignoresEnd: ignoresEnd)
      }
    case "prefix_repetition":
      let prefixes = (0..<prefixCount).map { _ in randomIDs(prefixTokens, using: &random) }
      return (0..<count).map { index in
        let ids = prefixes[index % prefixCount] + randomIDs(inputTokens, using: &random)
        return ServePrompt(ids: ids, outputTokens: outputTokens, ignoresEnd: true)
      }.shuffled(using: &random)
    default:
      return (0..<count).map { _ in
        ServePrompt(ids: randomIDs(inputTokens, using: &random), outputTokens: outputTokens, ignoresEnd: true)
      }
    }
  }

  /// Skips the first ids of the vocabulary, which in some models are single bytes and control tokens.
  private func randomIDs(_ count: Int, using random: inout SeededGenerator) -> [Int32] {
    (0..<count).map { _ in Int32.random(in: Int32(vocabularySize / 8)..<Int32(vocabularySize), using: &random) }
  }

  /// The first question of each conversation, in random order; the recorded answer's length limits ours.
  private func shareGPT(using random: inout SeededGenerator) throws -> [ServePrompt] {
    let file = try Terminal.readFile(path ?? "")
    guard let chats = JSONValue.parse(file)?.arrayValue else {
      throw CommandFailure("\(path ?? ""): is not a ShareGPT file: a JSON array of conversations")
    }
    let prompts = chats.compactMap { chat -> ServePrompt? in
      guard let turns = chat["conversations"]?.arrayValue ?? chat["conversation"]?.arrayValue, turns.count >= 2,
        let question = turns[0]["value"]?.stringValue, let answer = turns[1]["value"]?.stringValue, !question.isEmpty
      else { return nil }
      let tokens = min(max(answer.utf8.count / 4, 4), outputTokens)  // about four bytes per token
      return ServePrompt(text: question, outputTokens: tokens, ignoresEnd: ignoresEnd)
    }.shuffled(using: &random)
    if prompts.isEmpty { throw CommandFailure("\(path ?? ""): has no conversation of two turns") }
    return (0..<count).map { prompts[$0 % prompts.count] }
  }

  /// Sends all requests and waits; one thread per request in flight.
  func run(
    _ prompts: [ServePrompt], target: ServeTarget, model: String, progress: @escaping @Sendable (Double) -> Void
  ) async -> ([ServeResult], seconds: Double) {
    var random = SeededGenerator(seed: seed &+ 1)
    var due = 0.0
    let times = prompts.map { _ in
      defer { if rate.isFinite { due += -log(1 - Double.random(in: 0..<1, using: &random)) / rate } }
      return due
    }
    let board = ServeBoard(count: prompts.count)
    let begin = now()
    await withCheckedContinuation { continuation in
      board.onDone = { continuation.resume() }
      for _ in 0..<min(concurrency, prompts.count) {
        let thread = Thread {
          while let index = board.next() {
            let wait = times[index] - (now() - begin)
            if wait > 0 { Thread.sleep(forTimeInterval: wait) }
            let sent = now() - begin
            var result = Self.send(prompts[index], to: target, model: model)
            result.begin = sent
            board.finish(index, result, progress)
          }
        }
        thread.stackSize = 1 << 20
        thread.start()
      }
    }
    return (board.results, now() - begin)
  }

  private static func body(_ prompt: ServePrompt, target: ServeTarget, model: String) -> String {
    var members: [JSONValue.Member] = [.init(key: "model", value: .string(model))]
    if target.isChat {
      let text = prompt.text ?? prompt.ids.map { "w\($0)" }.joined(separator: " ")
      let message = JSONValue.object(["role": .string("user"), "content": .string(text)])
      members.append(.init(key: "messages", value: .array([message])))
    } else {
      let ids = JSONValue.array(prompt.ids.map { .integer(Int64($0)) })
      members.append(.init(key: "prompt", value: prompt.text.map { .string($0) } ?? ids))
    }
    members += [
      .init(key: "max_tokens", value: .integer(Int64(prompt.outputTokens))),
      .init(key: "temperature", value: .integer(0)), .init(key: "stream", value: .bool(true)),
      .init(key: "stream_options", value: .object(["include_usage": .bool(true)])),
    ]
    if prompt.ignoresEnd { members.append(.init(key: "ignore_eos", value: .bool(true))) }
    return JSONValue.object(members).text
  }

  private static func send(_ prompt: ServePrompt, to target: ServeTarget, model: String) -> ServeResult {
    var result = ServeResult()
    let begin = now()
    do {
      let client = try HTTPClient(host: target.host, port: target.port)
      let text = body(prompt, target: target, model: model)
      try client.request("POST", target.path, host: target.hostHeader, headers: target.headers, body: text)
      var held = ""
      let response = try client.response { chunk in
        held += String(decoding: chunk, as: UTF8.self)
        while let end = held.firstRange(of: "\n\n") {
          result.take(String(held[..<end.lowerBound]), at: now() - begin)
          held = String(held[end.upperBound...])
        }
      }
      result.replica = response.headers["x-pagoda-replica"]
      if response.status != 200 {
        result.error = JSONValue.parse(response.text)?["error"]?["message"]?.stringValue ?? "status \(response.status)"
      } else if result.outputTokens == 0 {
        result.outputTokens = result.tokenTimes.count
      }
    } catch {
      result.error = "\(error)"
    }
    result.end = now() - begin
    return result
  }
}

extension ServeResult {
  /// One event of the stream.
  fileprivate mutating func take(_ event: String, at time: Double) {
    guard event.hasPrefix("data: "), let chunk = JSONValue.parse(String(event.dropFirst(6))) else { return }
    if let message = chunk["error"]?["message"]?.stringValue { error = message }
    if let usage = chunk["usage"], let output = usage["completion_tokens"]?.intValue {
      outputTokens = Int(output)
      promptTokens = Int(usage["prompt_tokens"]?.intValue ?? 0)
      cachedTokens = Int(usage["prompt_tokens_details"]?["cached_tokens"]?.intValue ?? 0)
    }
    guard let choice = chunk["choices"]?.arrayValue?.first else { return }
    let texts = [choice["delta"]?["content"], choice["delta"]?["reasoning_content"]]
    let isCompletion = choice["text"] != nil && choice["finish_reason"]?.stringValue == nil  // with any text, or none
    if isCompletion || texts.contains(where: { $0?.stringValue?.isEmpty == false }) { tokenTimes.append(time) }
  }
}

private func now() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

/// Hands out requests to the threads of a load and collects their results.
private final class ServeBoard: @unchecked Sendable {
  private let lock = NSLock()
  private var taken = 0
  private var done = 0
  private(set) var results: [ServeResult]
  var onDone: (@Sendable () -> Void)?

  init(count: Int) { results = Array(repeating: ServeResult(), count: count) }

  func next() -> Int? {
    lock.withLock {
      if taken == results.count { return nil }
      defer { taken += 1 }
      return taken
    }
  }

  func finish(_ index: Int, _ result: ServeResult, _ progress: (Double) -> Void) {
    let (fraction, isLast) = lock.withLock {
      results[index] = result
      done += 1
      return (Double(done) / Double(results.count), done == results.count)
    }
    progress(fraction)
    if isLast { onDone?() }
  }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
