// pagoda replay: checks answers against their receipts, all tokens of an answer in one pass.
import Foundation
import PagodaKit

extension Command {
  static let replay = Command(
    name: "replay",
    summary: "Verifies from receipts that answers can be reproduced.",
    operands: "FILE",
    notes: """
      FILE was written by serve or generate with --receipts. Each token of an answer is sampled again with the same random
      number, at the speed of prompt processing. The exit status is 1 if an answer differs or cannot be checked.
      """,
    groups: [
      OptionGroup(
        "Options",
        [
          SharedOptions.model,
          Option(
            "prompts", value: "FILE",
            help: "the prompts, for receipts without them: one JSON array of token ids per line"),
        ]),
      SharedOptions.engine,
    ],
    run: runReplay)
}

private func runReplay(_ arguments: Arguments) async throws -> Int32 {
  guard arguments.positionals.count == 1 else { throw UsageError("name one receipts file") }
  let receipts = try read(arguments.positionals[0])
  let prompts = try arguments.string("prompts").map(readPrompts) ?? [:]
  let engine = try await arguments.loadEngine()
  let model = try await engine.fingerprint()
  let others = receipts.filter { $0.model != model }.count
  if others > 0 {
    Terminal.note(
      "\(others) of \(receipts.count) receipts are of another model, number format, device or version")
  }
  let begin = DispatchTime.now().uptimeNanoseconds
  let results = await check(receipts, prompts, engine)
  let seconds = Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
  var (same, different, failed) = (0, 0, 0)
  for (line, result) in zip(receipts, results) {
    switch result {
    case .same: same += 1
    case .differs(let index, let token):
      different += 1
      let (was, now) = (quoted(line.receipt.answer[index], engine), quoted(token, engine))
      Terminal.say("line \(line.number): token \(index) was \(was) and is \(now)")
    case .failed(let reason):
      failed += 1
      Terminal.say("line \(line.number): cannot be checked: \(reason)")
    }
  }
  let tokens = receipts.reduce(0) { $0 + $1.receipt.answer.count }
  Terminal.say(
    "\(same) answers are the same, \(different) differ, \(failed) cannot be checked; "
      + "\(tokens) tokens in \(String(format: "%.1f", seconds)) s")
  await engine.shutDown()
  return different + failed == 0 ? 0 : 1
}

private struct Line: Sendable {
  var number: Int
  var model: String
  var receipt: Receipt
}

private enum CheckResult: Sendable {
  case same
  case differs(Int, Int32)
  case failed(String)
}

private func read(_ path: String) throws -> [Line] {
  let lines = try Terminal.readFile(path).split(separator: "\n", omittingEmptySubsequences: false)
  return try lines.enumerated().compactMap { index, text in
    if text.allSatisfy(\.isWhitespace) { return nil }
    guard let json = JSONValue.parse(String(text)), let receipt = Receipt(json) else {
      throw CommandFailure("\(path): line \(index + 1) is not a receipt of this version")
    }
    return Line(number: index + 1, model: json["model"]?.stringValue ?? "", receipt: receipt)
  }
}

/// The prompts by hash.
private func readPrompts(_ path: String) throws -> [String: [Int32]] {
  var prompts: [String: [Int32]] = [:]
  for (index, text) in try Terminal.readFile(path).split(separator: "\n").enumerated() {
    let ids = JSONValue.parse(String(text))?.arrayValue?.map { $0.intValue.flatMap { Int32(exactly: $0) } }
    guard let ids, !ids.contains(nil) else {
      throw CommandFailure("\(path): line \(index + 1) is not an array of token ids")
    }
    let prompt = ids.compactMap { $0 }
    prompts[Receipt.hash(of: prompt)] = prompt
  }
  return prompts
}

/// Checks several receipts at a time: the engine batches them.
private func check(_ lines: [Line], _ prompts: [String: [Int32]], _ engine: Engine) async -> [CheckResult] {
  await withTaskGroup(of: (Int, CheckResult).self) { group in
    var results = [CheckResult](repeating: .same, count: lines.count)
    var next = 0
    func add() {
      guard next < lines.count else { return }
      let (index, receipt) = (next, lines[next].receipt)
      next += 1
      let prompt = receipt.prompt ?? prompts[receipt.promptHash]
      group.addTask { (index, await check(receipt, prompt, engine)) }
    }
    for _ in 0..<(2 * engine.info.plan.maximumSequences) { add() }
    for await (index, result) in group {
      results[index] = result
      add()
    }
    return results
  }
}

private func check(_ receipt: Receipt, _ prompt: [Int32]?, _ engine: Engine) async -> CheckResult {
  guard let prompt else { return .failed("its prompt is not in the file; give --prompts") }
  if Receipt.hash(of: prompt) != receipt.promptHash { return .failed("its prompt has another hash") }
  do {
    let tokens = try await engine.respond(to: receipt.check(prompt: prompt)).tokens.map(\.id)
    for (index, token) in tokens.enumerated() where token != receipt.answer[index] { return .differs(index, token) }
    return tokens.count == receipt.answer.count ? .same : .failed("the check ended early")
  } catch {
    return .failed("\(error)")
  }
}

private func quoted(_ id: Int32, _ engine: Engine) -> String {
  guard let text = try? engine.tokenizer?.decode([id], skippingSpecialTokens: false) else { return "\(id)" }
  return "\(id) \(JSONValue.string(Terminal.printable(text)).text)"
}
