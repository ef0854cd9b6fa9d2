// pagoda bench: the speed of a model on this machine, compared with the limits of the machine.
import Foundation
import PagodaKit

extension Command {
  static let bench = Command(
    name: "bench",
    summary: "Measures the speed of a model, and of this machine.",
    operands: "",
    notes: """
      Tests, separated by commas:
        pp512        processes a prompt of 512 tokens: tokens per second until the first new one
        tg128        generates 128 tokens after a short prompt
        tg64@d16384  generates 64 tokens after a prompt of 16384
        tg128+spec   generates 128 tokens after each of several texts with speculation: tokens per second over all texts
        b8           generates 64 tokens in each of 8 sequences: total tokens per second while all of them run
        b8+presence  the same with a kind of sampling: \(BenchSampling.help)
        b8+sampling  b8, then the same with each kind: presence penalty 1.5 with top-k 20, logit bias, a grammar, 20 log
                     probabilities, top-p without top-k, min-p
      Each row shows the minimum number of bytes moved per token (weights once per step, keys, values and recurrent state),
      and the share of the measured memory bandwidth and of the measured arithmetic peak. The limits of the machine are
      measured before and after each test; no other program should run meanwhile. On a GPU the limits are measured with its
      own copy and matrix kernels.

      --count needs neither a GPU nor the memory for the model: --device dry prepares every launch and runs none, with
      dry:overlap as for GPUs whose launches overlap (NVIDIA).

      `pagoda bench serve` sends load to a running server instead, `pagoda bench agents` runs agents with tool loops against
      one, and `pagoda bench spec` compares answers with and without drafts; each has its own --help.
      """,
    groups: [
      OptionGroup(
        "Options",
        [
          SharedOptions.model, SharedOptions.shape,
          Option("tests", value: "LIST", help: "what to measure (default \(BenchTest.defaults))"),
          SharedOptions.prompts,
          Option(
            "repetitions", short: "r", value: "N", help: "runs per test, of which the median is shown (default 3)"),
          Option("profile", help: "then run each test once more and show the time of each operation"),
          Option(
            "kernels", help: "then run each test once more, one launch at a time, and show the time of each kernel"),
          Option("count", help: "only count launches, bytes moved and encoding time (default --device dry)"),
          Option(
            "predict", value: "GPU",
            help:
              "only predict the speed of a GPU that is not here: \(GPUProfile.all.map(\.name).joined(separator: ", "))"),
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
  let tests = try BenchTest.parse(
    arguments.string("tests") ?? (arguments.has("predict") ? "tg64" : BenchTest.defaults))
  if let file = arguments.string("plot") { try Terminal.write("", toFile: file) }  // fail now rather than after minutes
  let gpu = try arguments.predictedGPU()
  var session = BenchSession(
    arguments: arguments, gpu: gpu, repetitions: Int(try arguments.integer("repetitions", in: 1...1000) ?? 3))
  // Drafts need memory and, with an MTP head, work in every step: those tests get their own engine.
  for group in [tests.filter { !$0.isSpeculative }, tests.filter(\.isSpeculative)] where !group.isEmpty {
    try await session.run(group)
  }
  try session.finish()
  return 0
}

extension Arguments {
  /// The GPU that --predict names; nil without it.
  fileprivate func predictedGPU() throws(UsageError) -> GPUProfile? {
    guard let name = string("predict") else { return nil }
    if let gpu = GPUProfile.all.first(where: { $0.name == name }) { return gpu }
    throw UsageError("--predict has '\(name)'; known are \(GPUProfile.all.map(\.name).joined(separator: ", "))")
  }
}

/// The tests of one call of the command, on one engine after the other.
private struct BenchSession {
  let arguments: Arguments
  let gpu: GPUProfile?  // that is predicted
  let repetitions: Int
  private var rows: [BenchRow] = []
  private var profiles: [BenchProfile] = []
  private var firstLimits: MachineLimits?
  private var info: ModelInfo?

  init(arguments: Arguments, gpu: GPUProfile?, repetitions: Int) {
    self.arguments = arguments
    self.gpu = gpu
    self.repetitions = repetitions
  }

  private var isText: Bool { !arguments.has("json") }
  private var name: String { arguments.modelFileName }

  mutating func run(_ tests: [BenchTest]) async throws {
    var given = try arguments.engineOptions()
    if arguments.has("count") && !arguments.has("device") { given.device = .dry(overlapping: false) }
    if let gpu { given.device = .dry(overlapping: gpu.overlapsLaunches) }
    let options = tests.sized(given, repetitions: repetitions, given: arguments)
    if arguments.has("shape"), tests.contains(where: \.isSpeculative) {
      throw CommandFailure("+spec needs text that can be predicted, not --shape; see 'pagoda bench spec --accept'")
    }
    let prompts = tests.contains(where: \.isSpeculative) ? try arguments.benchPrompts() : []
    let engine = try await arguments.loadEngine(options)
    var runner = BenchRunner(engine: engine, repetitions: repetitions, prompts: prompts)
    if let gpu {
      try await runner.printPredictions(tests, for: gpu, shape: arguments.string("shape"))
    } else if arguments.has("count") {
      try await runner.printCounts(tests)
    } else {
      try await runner.warmUp()
      if tests.contains(where: \.sampling.dependsOnLikelyTokens) { try await runner.chooseTemperature() }
      try await measure(tests, with: runner, options: options)
    }
    await engine.shutDown()
  }

  private mutating func measure(_ tests: [BenchTest], with runner: BenchRunner, options: EngineOptions) async throws {
    var info = runner.engine.info
    // A head for drafts is part of the model, also where a test does without.
    var whole = options
    whole.speculation = .automatic
    if let model = try? await Engine.inspect(arguments.modelSource(), options: whole) {
      (info.parameterCount, info.plan.weightsBytes) = (model.parameterCount, model.plan.weightsBytes)
    }
    let table = BenchReport.table(modelName: name)
    var (limits, before) = try await watchedLimits(runner, options)
    if isText && firstLimits == nil {
      let shared = BenchReport.sharedCells(modelName: name, info: info, limits: limits)
      Terminal.write(BenchReport.limits(limits, info: info) + table.heading(shared))
    }
    firstLimits = firstLimits ?? limits
    self.info = self.info ?? info
    for test in tests {
      let use = MachineUse()
      let speeds = try await runner.speeds(test)
      let others = use.others()
      let (after, since) = try await watchedLimits(runner, options)
      let row = BenchRow(
        test: test, speeds: speeds, cost: BenchCost(test, on: info, repetitions: repetitions),
        limits: [limits, after], weightDType: info.weightDType, others: others,
        othersAtLimits: before.flatMap { before in since.map { before.joined($0) } })
      (limits, before) = (after, since)
      rows.append(row)
      if isText { Terminal.write(table.line(BenchReport.cells(row, modelName: name, info: info))) }
    }
    for byKernel in [false, true] where arguments.has(byKernel ? "kernels" : "profile") {
      for test in tests {
        let times = try await runner.profile(test, byKernel: byKernel)
        profiles.append(BenchProfile(test: test, times: times, limits: limits, isByKernel: byKernel))
      }
    }
  }

  /// The machine's limits, and what other programs used of it meanwhile.
  private func watchedLimits(
    _ runner: BenchRunner, _ options: EngineOptions
  ) async throws -> (MachineLimits, OtherUse?) {
    let use = MachineUse()
    let limits = try await runner.limits(options)
    return (limits, use.others())
  }

  func finish() throws {
    guard let firstLimits, let info else { return }
    if let file = arguments.string("plot") {
      let subtitle = "\(name), \(info.weightDType) · \(info.device) · pagoda \(PagodaVersion.current)"
      try Terminal.write(BenchPlot.chart(rows, subtitle: subtitle), toFile: file)
    }
    if isText {
      let footnote = BenchReport.footnote
      Terminal.write(Style.textWidth.map { reflowed(footnote, width: $0) } ?? footnote)
      Terminal.write(fittingLine(BenchReport.warnings(rows)))
      for profile in profiles { Terminal.write(BenchReport.profile(profile)) }
    } else {
      let all = arguments.has("profile") || arguments.has("kernels") ? profiles : nil
      Terminal.write(
        JSONValue.bench(limits: firstLimits, rows: rows, profiles: all, info: info, name: name).text + "\n")
    }
  }
}
