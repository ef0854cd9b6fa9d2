// pagoda batch: runs a file of requests through one engine concurrently, with results in input order.
import Foundation
import PagodaKit

extension Command {
  static let batch = Command(
    name: "batch",
    summary: "Answers a file of requests, many at a time.",
    operands: "IN.jsonl OUT.jsonl",
    notes: """
      Each line is a request, a JSON object with `id`; `prompt`, `prompt_ids` or `messages`; and the options of `generate` as
      fields (`max_tokens`, `temperature`, `raw`, `system`, ...). Lines of OpenAI batch files also work. Each line of
      the output is the JSON of `generate` with the `id`, or an `error`, in input order; an invalid line does not stop the
      others. OUT.jsonl appears when all requests are done. '-' means standard input or output.
      The exit status is 1 if any line failed, 0 otherwise.
      """,
    groups: [OptionGroup("Options", [SharedOptions.model]), SharedOptions.engine],
    run: runBatch)
}

private func runBatch(_ arguments: Arguments) async throws -> Int32 {
  guard arguments.positionals.count == 2 else {
    throw UsageError("batch needs two files: IN.jsonl and OUT.jsonl")
  }
  let (input, output) = (arguments.positionals[0], arguments.positionals[1])
  let text = input == "-" ? try Terminal.readInput() : try Terminal.readFile(input)
  let requests = text.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }
    .map { BatchRequest(line: String($0)) }
  try checkWritable(output)

  let engine = try await arguments.loadEngine()
  let progress = ProgressLine("\(requests.count) requests")
  let lines = try await answer(requests, on: engine) { progress.show($0) }
  progress.clear()
  await engine.shutDown()

  try write(lines.map { $0.text + "\n" }.joined(), to: output)
  let failures = lines.count { $0["error"] != nil }
  if failures > 0 { Terminal.note("\(failures) of \(lines.count) requests failed") }
  return failures > 0 ? 1 : 0
}

/// Keeps several times as many requests in flight as can run concurrently, so that the engine never waits for work.
private func answer(
  _ requests: [BatchRequest], on engine: Engine, progress: @Sendable (Double) -> Void
) async throws -> [JSONValue] {
  let window = max(64, 4 * engine.info.plan.maximumSequences)
  return try await withThrowingTaskGroup(of: (Int, JSONValue).self) { group in
    var results = [JSONValue](repeating: .null, count: requests.count)
    var done = 0
    for (index, request) in requests.enumerated() {
      if index >= window, let (finished, result) = try await group.next() {
        results[finished] = result
        done += 1
        progress(Double(done) / Double(requests.count))
      }
      group.addTask { (index, try await resultLine(request, on: engine)) }
    }
    while let (finished, result) = try await group.next() {
      results[finished] = result
      done += 1
      progress(Double(done) / Double(requests.count))
    }
    return results
  }
}

private func resultLine(_ line: BatchRequest, on engine: Engine) async throws -> JSONValue {
  let id = JSONValue.Member(key: "id", value: line.id)
  do {
    return .object([id] + JSONValue.answer(try await engine.respond(to: line.request.get())))
  } catch let error as UsageError {
    return .object([id, JSONValue.failure(code: "invalid_argument", message: error.message)])
  } catch let error as PagodaError {
    return .object([id, JSONValue.failure(code: error.code, message: error.message)])
  }
}

/// Called before the work, so that an unwritable path is reported early.
private func checkWritable(_ path: String) throws {
  if path == "-" { return }
  let folder = URL(filePath: path).deletingLastPathComponent().path
  var isDirectory: ObjCBool = false
  if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
    throw CommandFailure("\(path): is a folder")
  }
  if !FileManager.default.isWritableFile(atPath: folder) { throw CommandFailure("\(folder): cannot be written to") }
}

/// Writes atomically: a temporary file next to the target, then a rename.
private func write(_ text: String, to path: String) throws {
  if path == "-" { return Terminal.write(text) }
  do {
    try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
  } catch {
    throw CommandFailure("\(path): cannot be written: \(error.localizedDescription)")
  }
}
