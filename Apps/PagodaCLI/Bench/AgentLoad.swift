// AgentLoad: the messages of a benchmark's agents, turn by turn, and their measurements.
import Foundation
import PagodaKit
import PagodaServer

/// One turn as an agent saw it; times are in seconds.
package struct AgentTurn: Sendable {
  package var agent = 0
  package var branch = 0  // 0 for the agent itself
  package var turn = 0  // from 0
  package var begin = 0.0  // seconds since the load began
  package var firstToken: Double?  // seconds since it was sent
  package var end = 0.0
  package var promptTokens = 0
  package var cachedTokens = 0
  package var outputTokens = 0
  package var isCall = false
  package var error: String?

  package init() {}
}

package struct AgentLoad: Sendable {
  package var agents: Int
  package var turns: Int
  package var forks: Int
  var systemWords: Int
  var contextWords: Int
  var resultWords: Int
  var outputTokens: Int
  var toolChoice: String
  var seed: UInt64

  package init(_ arguments: Arguments) throws {
    func count(_ name: String, _ standard: Int, from least: Int64 = 1, to most: Int64 = 1_000_000) throws -> Int {
      Int(try arguments.integer(name, in: least...most) ?? Int64(standard))
    }
    agents = try count("agents", 8, to: 1024)
    turns = try count("turns", 6, to: 1000)
    forks = try count("forks", 1, from: 0, to: 16)
    systemWords = try count("system-words", 400, from: 0)
    contextWords = try count("context-words", 100, from: 0)
    resultWords = try count("result-words", 60, from: 0)
    outputTokens = try count("output-len", 48)
    toolChoice = try arguments.choice("tool-choice", of: ["auto", "required", "none"]) ?? "auto"
    seed = UInt64(try arguments.integer("seed", in: 0...Int64.max) ?? 0)
  }

  /// The turn after which an agent forks; nil if it has too few turns.
  package var forkTurn: Int? { forks > 0 && turns > 1 ? turns / 2 : nil }

  /// Turns of all agents and branches.
  package var turnCount: Int { agents * (turns + (forkTurn.map { (turns - $0) * forks } ?? 0)) }

  /// Runs all agents, one thread per branch, and waits for all of them or for `end`, whichever comes first.
  func run(
    target: ServeTarget, model: String, end: LoadEnd, progress: @escaping @Sendable (Double) -> Void
  ) async -> ([AgentTurn], seconds: Double) {
    let board = AgentBoard(total: turnCount, progress)
    let begin = now()
    let load = self
    let group = DispatchGroup()
    for agent in 0..<agents {
      load.start(load.opening(agent), agent, branch: 0, from: 0, in: group) { messages in
        if end.isReached { return nil }
        var sent = load.send(messages, to: target, model: model)
        sent.turn.begin -= begin
        return sent
      } record: {
        board.add($0)
      }
    }
    group.notify(queue: .global()) { end.reach(isEarly: false) }
    await end.wait()
    return (board.turns.sorted { ($0.agent, $0.branch, $0.turn) < ($1.agent, $1.branch, $1.turn) }, now() - begin)
  }

  /// One branch of an agent, on its own thread. It ends with its last turn, or with the first that fails.
  private func start(
    _ opening: [JSONValue], _ agent: Int, branch: Int, from first: Int, in group: DispatchGroup,
    send: @escaping @Sendable ([JSONValue]) -> (turn: AgentTurn, message: JSONValue)?,
    record: @escaping @Sendable (AgentTurn) -> Void
  ) {
    group.enter()
    let thread = Thread {
      defer { group.leave() }
      var messages = opening
      for turn in first..<turns {
        if branch == 0, turn == forkTurn {
          for fork in 1...forks {
            let other = messages.dropLast(1) + [result(after: messages, agent, branch: fork, turn)]
            start(Array(other), agent, branch: fork, from: turn, in: group, send: send, record: record)
          }
        }
        guard let answer = send(messages) else { return }
        var measured = answer.0
        (measured.agent, measured.branch, measured.turn) = (agent, branch, turn)
        record(measured)
        if measured.error != nil { return }
        messages.append(answer.1)
        messages.append(result(after: messages, agent, branch: branch, turn + 1))
      }
    }
    thread.stackSize = 1 << 20
    thread.start()
  }

  // MARK: - Messages

  /// The system prompt that all share, and the agent's own task.
  package func opening(_ agent: Int) -> [JSONValue] {
    [
      Self.message("system", "You are an agent. Use the tools. Rules: " + words(systemWords, 0)),
      Self.message("user", "Task \(agent): find what is asked. Notes: " + words(contextWords, 1 + UInt64(agent))),
    ]
  }

  /// The reply of the agent's program to the last message: a tool's result for a call, else a user's message.
  package func result(after messages: [JSONValue], _ agent: Int, branch: Int, _ turn: Int) -> JSONValue {
    let text =
      "Result \(agent).\(branch).\(turn): "
      + words(resultWords, UInt64(1 + agent) << 40 | UInt64(branch) << 20 | UInt64(turn + 1))
    // A fork replaces the result that follows the same call.
    let calls = messages.last { $0["role"]?.stringValue == "assistant" }?["tool_calls"]?.arrayValue ?? []
    guard let id = calls.first?["id"] else { return Self.message("user", text) }
    return .object(["role": .string("tool"), "tool_call_id": id, "content": .string(text)])
  }

  private static func message(_ role: String, _ text: String) -> JSONValue {
    .object(["role": .string(role), "content": .string(text)])
  }

  private func words(_ count: Int, _ stream: UInt64) -> String {
    var random = SeededGenerator(seed: seed &* 0x9E37_79B9 &+ stream)
    return (0..<count).map { _ in Self.vocabulary[Int.random(in: 0..<Self.vocabulary.count, using: &random)] }
      .joined(separator: " ")
  }

  private static let vocabulary = """
    river stone garden window letter market summer winter bridge forest table paper school number answer city house road \
    water light morning evening story music friend color doctor farmer teacher engine ticket mountain island valley harbor
    """.split { " \n".contains($0) }.map(String.init)

  private static let tools: JSONValue = .array(
    [("search", "query"), ("read_file", "path"), ("run_tests", "filter")].map { name, argument in
      .object([
        "type": .string("function"),
        "function": .object([
          "name": .string(name), "description": .string("Does what its name says."),
          "parameters": .object([
            "type": .string("object"),
            "properties": .object([.init(key: argument, value: .object(["type": .string("string")]))]),
            "required": .array([.string(argument)]),
          ]),
        ]),
      ])
    })

  package func body(_ messages: [JSONValue], model: String) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init(key: "model", value: .string(model)), .init(key: "messages", value: .array(messages)),
      .init(key: "max_tokens", value: .integer(Int64(outputTokens))), .init(key: "temperature", value: .integer(0)),
      .init(key: "stream", value: .bool(true)),
      .init(key: "stream_options", value: .object(["include_usage": .bool(true)])),
    ]
    if toolChoice != "none" {
      members += [.init(key: "tools", value: Self.tools), .init(key: "tool_choice", value: .string(toolChoice))]
    }
    return .object(members)
  }

  // MARK: - A turn

  private func send(
    _ messages: [JSONValue], to target: ServeTarget, model: String
  ) -> (turn: AgentTurn, message: JSONValue) {
    var reader = AgentAnswer()
    let begin = now()
    reader.turn.begin = begin
    do {
      let client = try HTTPClient(host: target.host, port: target.port)
      try client.request(
        "POST", target.path, host: target.hostHeader, headers: target.headers, body: body(messages, model: model).text)
      var held = ""
      let response = try client.response { chunk in
        held += String(decoding: chunk, as: UTF8.self)
        while let end = held.firstRange(of: "\n\n") {
          reader.take(String(held[..<end.lowerBound]), at: now() - begin)
          held = String(held[end.upperBound...])
        }
      }
      if response.status != 200 {
        reader.turn.error =
          JSONValue.parse(response.text)?["error"]?["message"]?.stringValue ?? "status \(response.status)"
      }
    } catch {
      reader.turn.error = "\(error)"
    }
    reader.turn.end = now() - begin
    return (reader.turn, reader.message)
  }
}

/// Assembles a streamed answer.
package struct AgentAnswer {
  package var turn = AgentTurn()
  private var text = ""
  private var calls: [(id: String, name: String, arguments: String)] = []

  package init() {}

  /// One event of the stream.
  package mutating func take(_ event: String, at time: Double) {
    guard event.hasPrefix("data: "), let chunk = JSONValue.parse(String(event.dropFirst(6))) else { return }
    if let message = chunk["error"]?["message"]?.stringValue { turn.error = message }
    if let usage = chunk["usage"], let output = usage["completion_tokens"]?.intValue {
      turn.outputTokens = Int(output)
      turn.promptTokens = Int(usage["prompt_tokens"]?.intValue ?? 0)
      if let cached = usage["prompt_tokens_details"]?["cached_tokens"]?.intValue { turn.cachedTokens = Int(cached) }
    }
    if let cached = chunk["timings"]?["cache_n"]?.intValue { turn.cachedTokens = Int(cached) }  // llama.cpp's
    guard let delta = chunk["choices"]?.arrayValue?.first?["delta"] else { return }
    let reasoning = delta["reasoning_content"]?.stringValue ?? ""
    let content = delta["content"]?.stringValue ?? ""
    let parts = delta["tool_calls"]?.arrayValue ?? []
    text += content
    for part in parts {
      let index = Int(part["index"]?.intValue ?? 0)
      while calls.count <= min(index, 63) { calls.append(("", "", "")) }
      guard calls.indices.contains(index) else { continue }
      calls[index].id += part["id"]?.stringValue ?? ""
      calls[index].name += part["function"]?["name"]?.stringValue ?? ""
      calls[index].arguments += part["function"]?["arguments"]?.stringValue ?? ""
    }
    turn.isCall = !calls.isEmpty
    if turn.firstToken == nil, !(reasoning + content).isEmpty || !parts.isEmpty { turn.firstToken = time }
  }

  /// The message that continues the conversation. Of several calls the first is kept: one result follows.
  package var message: JSONValue {
    guard let call = calls.first, JSONValue.parse(call.arguments) != nil else {
      return .object(["role": .string("assistant"), "content": .string(text.isEmpty ? "..." : text)])
    }
    let function = JSONValue.object(["name": .string(call.name), "arguments": .string(call.arguments)])
    return .object([
      "role": .string("assistant"), "content": .string(text),
      "tool_calls": .array([
        .object(["id": .string(call.id), "type": .string("function"), "function": function])
      ]),
    ])
  }
}

private func now() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

/// The end of a load: all is done, or the user has seen enough. Any thread may use it.
package final class LoadEnd: @unchecked Sendable {
  private let lock = NSLock()
  private var isDone = false
  private var wasEarly = false
  private var waiter: CheckedContinuation<Void, Never>?

  package init() {}

  package var isReached: Bool { lock.withLock { isDone } }
  package var isEarly: Bool { lock.withLock { wasEarly } }

  /// False if it was reached before.
  @discardableResult package func reach(isEarly: Bool = true) -> Bool {
    let (isFirst, waiter) = lock.withLock {
      defer { (isDone, self.waiter) = (true, nil) }
      if !isDone { wasEarly = isEarly }
      return (!isDone, self.waiter)
    }
    waiter?.resume()
    return isFirst
  }

  package func wait() async {
    await withCheckedContinuation { continuation in
      let isReached = lock.withLock {
        if !isDone { waiter = continuation }
        return isDone
      }
      if isReached { continuation.resume() }
    }
  }
}

/// Collects turns from all threads.
private final class AgentBoard: @unchecked Sendable {
  private let lock = NSLock()
  private let total: Int
  private let progress: @Sendable (Double) -> Void
  private var list: [AgentTurn] = []
  var turns: [AgentTurn] { lock.withLock { list } }

  init(total: Int, _ progress: @escaping @Sendable (Double) -> Void) {
    self.total = total
    self.progress = progress
  }

  func add(_ turn: AgentTurn) {
    let count = lock.withLock {
      list.append(turn)
      return list.count
    }
    progress(Double(count) / Double(total))
  }
}
