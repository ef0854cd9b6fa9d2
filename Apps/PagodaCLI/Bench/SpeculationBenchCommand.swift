// pagoda bench spec: speed-up of speculative decoding per kind of text, interleaved with plain decoding.
import Foundation
import PagodaKit

extension Command {
  static let benchSpec = Command(
    name: "bench spec",
    summary: "Measures the speed-up of speculative decoding.",
    operands: "",
    notes: """
      Each prompt is answered with and without drafts, interleaved. The speed-up is the median of the ratios of the rounds.
      The last column counts the bits in which the answers differ (tokens, log probabilities, finish reasons, usage) and
      must be 0. `by position` counts the accepted drafts by their position in a step.

      --accept P replaces the engine's drafts with those of an oracle that knows the answer and is correct with probability
      P. Use it with --shape, whose text cannot be predicted. --accept 0 shows the cost of rejected drafts.
      """,
    groups: [
      OptionGroup(
        "Options",
        [
          SharedOptions.model, SharedOptions.shape, SharedOptions.prompts,
          Option("tokens", value: "N", help: "tokens of each answer (default 128)"),
          Option("rounds", value: "N", help: "runs with and without drafts (default 5)"),
          Option("sequences", value: "N", help: "concurrent answers, every second one at temperature 0.6 (default 1)"),
          Option("accept", value: "P", help: "use an oracle's drafts, accepted with this probability, 0 to 1"),
          Option("json", help: "print one JSON object instead of the table"),
        ]),
      SharedOptions.engine,
    ],
    run: runSpeculationBench)
}

private func runSpeculationBench(_ arguments: Arguments) async throws -> Int32 {
  try arguments.refusePositionals()
  let bench = try arguments.speculationBench()
  var options = try arguments.engineOptions()
  if options.speculation == .off { throw UsageError("--speculate off leaves nothing to compare") }
  options.prefixCache = false
  try await arguments.offerToFetch(for: &options)
  let source = try arguments.modelSource()
  if !arguments.has("max-num-seqs") { options.maximumSequences = bench.sequences }
  if !arguments.has("max-model-len") {
    options.maximumModelLength = min(try await Engine.inspect(source, options: options).contextLength, 4096)
  }
  let isText = !arguments.has("json")
  if isText { Terminal.write(SpeculationReport.table.heading()) }
  let rows = RowList()
  let use = MachineUse()
  try await bench.run(source, options: options) { row in
    rows.append(row)
    if isText { Terminal.write(SpeculationReport.table.line(SpeculationReport.cells(row))) }
  }
  if let note = use.others()?.note(from: BenchReport.distortingUse) { Terminal.note(note) }
  if !isText { Terminal.write(SpeculationReport.json(rows.all, name: arguments.modelFileName).text + "\n") }
  guard rows.all.allSatisfy({ $0.differingBits == 0 }) else { throw CommandFailure("answers differ") }
  return 0
}

extension Arguments {
  func speculationBench() throws -> SpeculationBench {
    var bench = SpeculationBench()
    if let tokens = try integer("tokens", in: 2...100_000) { bench.tokens = Int(tokens) }
    if let rounds = try integer("rounds", in: 1...1000) { bench.rounds = Int(rounds) }
    if let count = try integer("sequences", in: 1...1024) { bench.sequences = Int(count) }
    if let text = string("accept") {
      guard let chance = Double(text), (0...1).contains(chance) else {
        throw UsageError("--accept is '\(text)'; it must be a number from 0 to 1")
      }
      bench.acceptance = chance
    }
    bench.prompts = try benchPrompts()
    return bench
  }

  /// The prompts of --prompts, or one of each kind.
  func benchPrompts() throws -> [SpeculationBench.Prompt] {
    guard let path = string("prompts") else { return SpeculationBench.Prompt.all }
    let prompts = parsePrompts(try Terminal.readFile(path))
    if prompts.isEmpty { throw CommandFailure("\(path) has no prompt") }
    return prompts
  }
}

/// One prompt per line: text, or a JSON object with `prompt` and perhaps `kind`.
package func parsePrompts(_ file: String) -> [SpeculationBench.Prompt] {
  file.split(whereSeparator: \.isNewline).enumerated().compactMap { index, line in
    let text = line.trimmingCharacters(in: .whitespaces)
    if text.isEmpty { return nil }
    let object = text.hasPrefix("{") ? JSONValue.parse(text) : nil
    return SpeculationBench.Prompt(
      kind: object?["kind"]?.stringValue ?? "line \(index + 1)", text: object?["prompt"]?.stringValue ?? text)
  }
}

/// Rows as they arrive from the measuring thread.
private final class RowList: @unchecked Sendable {
  private let lock = NSLock()
  private var rows: [SpeculationBench.Row] = []

  func append(_ row: SpeculationBench.Row) { lock.withLock { rows.append(row) } }
  var all: [SpeculationBench.Row] { lock.withLock { rows } }
}

private enum SpeculationReport {
  static let table = BenchTable(columns: [
    ("text", 12), ("off tok/s", 10), ("on tok/s", 10), ("speed-up", 8), ("drafted", 8), ("accepted", 8),
    ("by position", 34),
    ("differing bits", 14),
  ])

  static func cells(_ row: SpeculationBench.Row) -> [String] {
    let drafts = row.speculation
    return [
      row.kind, String(format: "%.1f", row.plainTokensPerSecond), String(format: "%.1f", row.tokensPerSecond),
      String(format: "%.2fx", row.speedup), String(drafts.draftedTokens), String(drafts.acceptedTokens),
      listed(drafts.acceptedByPosition), String(row.differingBits),
    ]
  }

  /// The acceptance by position, up to the last position at which a draft was accepted.
  private static func listed(_ counts: [Int64]) -> String {
    let last = counts.lastIndex { $0 > 0 } ?? 0
    return counts.prefix(last + 1).map { String($0) }.joined(separator: " ")
  }

  static func json(_ rows: [SpeculationBench.Row], name: String) -> JSONValue {
    let values = rows.map { row in
      JSONValue.object([
        "text": .string(row.kind), "off_tok_s": .number(row.plainTokensPerSecond),
        "on_tok_s": .number(row.tokensPerSecond), "speedup": .number(row.speedup),
        "drafted_tokens": .integer(row.speculation.draftedTokens),
        "accepted_tokens": .integer(row.speculation.acceptedTokens),
        "accepted_by_place": .array(row.speculation.acceptedByPosition.map { .integer($0) }),
        "differing_bits": .integer(row.differingBits),
      ])
    }
    return .object([
      "rows": .array(values), "model": .string(name), "version": .string(PagodaVersion.current),
    ])
  }
}
