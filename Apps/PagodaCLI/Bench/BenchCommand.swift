// pagoda bench: the speed of a model on this machine, beside what the machine could do at most.
import Foundation
import PagodaKit

extension Command {
  static let bench = Command(
    name: "bench",
    summary: "Measures the speed of a model, and of this machine.",
    operands: "",
    notes: """
      Tests, separated by commas:
        pp512        reads a prompt of 512 tokens: tokens a second until the first new one
        tg128        generates 128 tokens after a short prompt
        tg64@d16384  generates 64 tokens after a prompt of 16384
        b8           8 sequences at once generate 64 tokens each: tokens a second of all, while all of them run
      Each row says how many bytes a token has to move at least (weights once per step, keys, values and recurrent state),
      how much of the measured memory bandwidth that is, and how much of the measured peak of arithmetic. The limits of
      the machine are measured before and after each test; nothing else should run meanwhile.

      `pagoda bench serve` puts load on a running server instead; it has a help of its own.
      """,
    groups: [
      OptionGroup(
        "Options",
        [
          SharedOptions.model, SharedOptions.shape,
          Option("tests", value: "LIST", help: "what to measure (default \(BenchTest.defaults))"),
          Option("repetitions", short: "r", value: "N", help: "runs of each test; the median counts (default 3)"),
          Option("profile", help: "then run each test once more and show the time of each operation"),
          Option("count", help: "only count launches, bytes moved and the time to encode (--device software and GPUs)"),
          Option("json", help: "print one JSON object instead of tables"),
          Option(
            "plot", value: "FILE", help: "also draw the rows against the limits of the machine, as an SVG picture"),
        ]),
      SharedOptions.engine,
    ],
    run: runBench)
}

private func runBench(_ arguments: Arguments) async throws -> Int32 {
  try arguments.refusePositionals()
  let tests = try BenchTest.parse(arguments.string("tests") ?? BenchTest.defaults)
  let repetitions = Int(try arguments.integer("repetitions", in: 1...1000) ?? 3)
  let options = tests.sized(try arguments.engineOptions(), repetitions: repetitions, given: arguments)
  let name = arguments.modelFileName
  let isText = !arguments.has("json")
  if let file = arguments.string("plot") { try Terminal.write("", toFile: file) }  // rather now than after minutes

  let engine = try await arguments.loadEngine(options)
  let runner = BenchRunner(engine: engine, repetitions: repetitions)
  if arguments.has("count") {
    try await runner.printCounts(tests)
    await engine.shutDown()
    return 0
  }
  let table = BenchReport.table(modelName: name)
  try await runner.warmUp()
  let firstLimits = try await MachineLimits.measure(threadCount: options.threadCount)
  if isText { Terminal.write(BenchReport.limits(firstLimits, info: engine.info) + table.heading) }

  var rows: [BenchRow] = []
  var limits = firstLimits
  for test in tests {
    let speeds = try await runner.speeds(test)
    let after = try await MachineLimits.measure(threadCount: options.threadCount)
    let row = BenchRow(
      test: test, speeds: speeds, cost: BenchCost(test, on: engine.info, repetitions: repetitions),
      limits: [limits, after], weightDType: engine.info.weightDType)
    limits = after
    rows.append(row)
    if isText { Terminal.write(table.line(BenchReport.cells(row, modelName: name, info: engine.info))) }
  }
  if isText { Terminal.write(BenchReport.footnote) }
  if let file = arguments.string("plot") {
    let subtitle =
      "\(name), \(engine.info.weightDType) · \(engine.info.device) · pagoda \(PagodaVersion.current)"
    try Terminal.write(BenchPlot.chart(rows, subtitle: subtitle), toFile: file)
  }

  var profiles: [BenchProfile]?
  if arguments.has("profile") {
    profiles = []
    for test in tests {
      let profile = BenchProfile(test: test, times: try await runner.profile(test), limits: limits)
      profiles?.append(profile)
      if isText { Terminal.write(BenchReport.profile(profile)) }
    }
  }
  if !isText {
    let json = JSONValue.bench(limits: firstLimits, rows: rows, profiles: profiles, info: engine.info, name: name)
    Terminal.write(json.text + "\n")
  }
  await engine.shutDown()
  return 0
}
