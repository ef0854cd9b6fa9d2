// pagoda bench: the names of tests, their memory and cost, and the JSON.
import Foundation
import PagodaCLI
import PagodaKit
import Testing

@Suite struct BenchTests {
  @Test func test_names_are_parsed() throws {
    let tests = try BenchTest.parse("pp512,tg128, tg64@d16384,b32")
    #expect(
      tests.map(\.kind) == [
        .prefill(tokens: 512), .decode(tokens: 128, depth: 0), .decode(tokens: 64, depth: 16384), .batch(sequences: 32),
      ])
    #expect(tests.map(\.name) == ["pp512", "tg128", "tg64@d16384", "b32"])
  }

  @Test func a_batch_may_have_a_kind_of_sampling_or_each() throws {
    let tests = try BenchTest.parse("b4+presence,b2+sampling")
    #expect(
      tests.map(\.name) == [
        "b4+presence", "b2", "b2+presence", "b2+bias", "b2+grammar", "b2+logprobs", "b2+top-p", "b2+min-p",
      ])
    #expect(tests.map(\.sampling) == [.presence] + BenchSampling.allCases)
    #expect(tests.map(\.sequences) == [4] + Array(repeating: 2, count: 7))
  }

  @Test func kinds_that_keep_likely_tokens_are_as_sure_as_a_trained_model() {
    #expect(BenchSampling.temperature(logProbabilities: [-0.5, -3, -7]) == 1)
    #expect(BenchSampling.temperature(logProbabilities: [-11, -11.5, -12.5]) == 0.25)
    for flat: [Float] in [[], [-2], [-2, -2]] { #expect(BenchSampling.temperature(logProbabilities: flat) == 1) }
  }

  @Test func a_test_with_drafts_has_room_for_text_and_keeps_them_on() throws {
    let tests = try BenchTest.parse("tg8+spec")
    #expect(tests.map(\.kind) == [.speculative(tokens: 8)])
    #expect(tests[0].isSpeculative)
    let options = tests.sized(EngineOptions(), repetitions: 3, given: Arguments())
    #expect(options.speculation == .automatic && options.maximumModelLength == 1024 + 1 + 8)
    #expect(try BenchTest.parse("tg8").sized(EngineOptions(), repetitions: 1, given: Arguments()).speculation == .off)
  }

  @Test(arguments: [
    "tg+spec", "tg0+spec", "pp8+spec", "tg8+", "tg8@d5+spec", "", "pp", "pp0", "pp-1", "pp5x", "tg", "tg@d5", "tg5@",
    "tg5@d", "tg5@d0", "tg5@d1@d2", "b", "b0", "b2000", "x8", "b4+", "b4+x", "b+sampling", "tg8+presence",
    "tg8+sampling",
    "pp99999999999999999999", "pp٣",
  ])
  func other_names_are_refused_and_the_forms_listed(_ item: String) {
    let error = #expect(throws: UsageError.self) { try BenchTest.parse("pp16,\(item),b2") }
    #expect(error?.message.contains("'\(item)'") == true)
    for form in ["pp512", "tg128", "tg64@d16384", "tg128+spec", "b8"] { #expect(error?.message.contains(form) == true) }
  }

  @Test func the_engine_is_large_enough_for_the_tests_and_the_options() throws {
    let tests = try BenchTest.parse("pp100,tg8@d200,b4")
    let options = tests.sized(EngineOptions(), repetitions: 3, given: Arguments())
    #expect(options.maximumModelLength == 200 + 1 + 3 * 8)
    #expect(options.maximumSequences == 4)
    #expect(options.kvBlockCount == Int64(4 * 5 + 1))  // the batch: sequences of 16 + 64 tokens, in blocks of 16
    let arguments = try Arguments(["--max-num-seqs", "9"], options: [Option("max-num-seqs", value: "N", help: "")])
    var given = EngineOptions()
    given.maximumSequences = 9
    #expect(tests.sized(given, repetitions: 1, given: arguments).maximumSequences == 9)
  }

  @Test func cost_counts_weights_once_per_step() async throws {
    var options = EngineOptions()
    options.maximumModelLength = 1024
    let info = try await Engine.inspect(.shape("tiny"), options: options)
    let cost = { (name: String) in BenchCost(try #require(BenchTest(name)), on: info, repetitions: 1) }
    let weights = Double(info.layerMatrices.bytes + info.headMatrix.bytes)
    let (one, eight) = (try cost("b1"), try cost("b8"))
    #expect(abs((one.bytes - eight.bytes) - weights * 7 / 8) < 1)
    #expect(one.operations == eight.operations)
    #expect(one.operations == Double(2 * (info.layerMatrices.parameterCount + info.headMatrix.parameterCount)))
    let keyBytes = Double(info.plan.kvBlockBytes) / Double(info.plan.blockSize)
    let deeper = try cost("tg8@d900").bytes - cost("tg8@d100").bytes
    #expect(abs(deeper - 800 * keyBytes) < 1)
    #expect(try cost("pp1024").bytes < cost("pp512").bytes * 1.5)
    #expect(try cost("pp512").operations < one.operations)
  }

  @Test func json_has_limits_rows_and_model() throws {
    let run = try Program.run(
      "bench", "--tests", "pp8,tg4,tg2@d20,b2", "--repetitions", "2", "--threads", "1", "--json", "--profile")
    let report = try #require(JSONValue.parse(run.output), "\(run.errors)")
    for key in ["read_gb_s", "int8_tops", "bf16_tflops", "f32_tflops"] {
      #expect(try #require(report["limits"]?[key]?.doubleValue) > 0)
    }
    #expect(report["limits"]?["threads"]?.intValue == 1)
    let rows = try #require(report["rows"]?.arrayValue)
    #expect(rows.map { $0["test"]?.stringValue } == ["pp8", "tg4", "tg2@d20", "b2"])
    for row in rows {
      for key in ["tok_s", "gb_per_token", "pct_bandwidth", "pct_compute", "read_gb_s", "peak_tops"] {
        #expect(try #require(row[key]?.doubleValue) > 0, "\(key) of \(row.text)")
      }
      #expect(row["samples"]?.arrayValue?.count == 2)
    }
    #expect(report["model"]?["name"]?.stringValue == "mini")
    #expect(report["profile"]?.arrayValue?.count == 4)
  }

  /// The cells of the last line of a table.
  private func lastRow(_ output: String) throws -> [String] {
    let last = try #require(output.split(separator: "\n").last)
    return last.split(separator: "|").map { $0.filter { $0 != " " } }
  }

  @Test func kernels_are_counted_whether_they_run_or_not() throws {
    var launches: [String] = []
    for device in [["--device", "software"], []] {
      let run = try Program.run(["bench", "--tests", "tg2", "--repetitions", "1", "--count"] + device)
      #expect(run.status == 0, "\(run.errors)")
      let row = try lastRow(run.output)
      #expect(row.first == "tg2")
      #expect(try #require(Double(row[1])) > 8 * 4)  // 8 layers with four matmuls each
      #expect(try #require(Double(row[4])) >= 1)
      launches.append(row[1])
    }
    #expect(launches[0] == launches[1])
    let refused = try Program.run("bench", "--device", "cpu", "--tests", "tg2", "--repetitions", "1", "--count")
    #expect(refused.status == 1 && refused.errors.contains("launch kernels"))
  }

  @Test func a_speed_follows_from_the_counts() throws {
    let m1 = try #require(GPUProfile.all.first { $0.name == "m1" })
    var token = Prediction(launches: 100, barriers: 90, bytes: 0.4e9, weights: 0.75e9, instructionsPerWeight: 5)
    let before = token.tokensPerSecond(m1)
    token.instructionsPerWeight = 10  // on an M1, 4 bits are bound by instructions
    #expect(token.tokensPerSecond(m1) < before)
    token.instructionsPerWeight = 0
    let bound = token.tokensPerSecond(m1)
    token.bytes *= 4  // and now by memory
    #expect(token.tokensPerSecond(m1) < bound)
    token.launches += 1000
    #expect(token.tokensPerSecond(m1) < 1 / (1000 * 3e-6 + 1.6e9 / 68.3e9))
    let scalar = Prediction(
      launches: 100, barriers: 90, bytes: 0.4e9, weights: 0.75e9, instructionsPerWeight: 5,
      scalarInstructionsPerWeight: 5)
    #expect(scalar.tokensPerSecond(m1, isScalar: true) > 1.5 * before)  // no matrix product
  }

  /// As ModelInfo.weightDType names them: of several the first has most weights.
  @Test(arguments: [("4bit", "Q4_0"), ("Q4_K, Q6_K, float32", "Q5_K"), ("affine 4 bits, bfloat16", "affine 8 bits")])
  func instructions_are_those_of_the_format(_ formats: String, _ other: String) {
    let count = KernelCosts.instructionsPerWeight(formats)
    #expect(count.unpacking > 4 && count.scalar > 4)
    #expect(count.scalar != KernelCosts.instructionsPerWeight(other).scalar)
    #expect(KernelCosts.instructionsPerWeight("bfloat16").unpacking == 0)
  }

  /// Counts of Tools/bench/results/launches.md; measurements as in docs/performance.md.
  @Test(arguments: [(197.0, 0.470e9, 0.75e9, 1136.0), (261.0, 2.471e9, 4.21e9, 391.0), (517.0, 14.721e9, 25.6e9, 96.9)])
  func speeds_on_an_h200_are_predicted_within_a_quarter(
    launches: Double, bytes: Double, weights: Double, measured: Double
  ) throws {
    let h200 = try #require(GPUProfile.all.first { $0.name == "h200" })
    let token = Prediction(
      launches: launches, barriers: launches, bytes: bytes, weights: weights, instructionsPerWeight: 4.88)
    let predicted = token.tokensPerSecond(h200)
    #expect(abs(predicted / measured - 1) < 0.25, "\(predicted) for \(measured)")
  }

  @Test func a_speed_is_predicted_without_the_gpu() throws {
    var speeds: [Double] = []
    for gpu in ["m1", "m4-pro"] {
      let run = try Program.run(
        "bench", "--predict", gpu, "--shape", "qwen3.5-9b", "--quantize", "4bit", "--tests", "tg2", "--repetitions",
        "1")
      #expect(run.status == 0, "\(run.errors)")
      let row = try lastRow(run.output)
      #expect(row.count == 12 && row[0] == "tg2", "\(run.output)")
      #expect(try #require(Double(row[1])) > #require(Double(row[2])) && #require(Double(row[2])) > 32 * 4)
      #expect(try #require(Double(row[4])) > 3 && #require(Double(row[5])) > 64, "\(run.output)")
      #expect(row[11] == (gpu == "m1" ? "-" : "43"), "published for mlx-lm")
      #expect(try #require(Double(row[10])) > #require(Double(row[9])), "without matrix units")
      speeds.append(try #require(Double(row[9])))
    }
    #expect(speeds[0] * 2 < speeds[1])
    let unknown = try Program.run("bench", "--predict", "m99")
    #expect(unknown.status == 64 && unknown.errors.contains("m4-pro"))
    let prompt = try Program.run("bench", "--predict", "m1", "--shape", "tiny", "--tests", "pp16")
    #expect(prompt.status == 1 && prompt.errors.contains("tg64"))
  }

  /// Larger than this machine's memory: no part of the model is allocated.
  @Test func launches_of_a_large_shape_are_counted_without_its_memory() throws {
    let run = try Program.run(
      "bench", "--shape", "qwen3.5-27b", "--quantize", "bf16", "--tests", "tg2", "--repetitions", "1", "--count",
      "--device", "dry:overlap")
    #expect(run.status == 0, "\(run.errors)")
    #expect(try #require(Double(lastRow(run.output)[1])) > 64 * 5)
  }

  @Test func a_gpu_is_compared_with_its_own_limits_and_times_its_kernels() throws {
    let run = try Program.run(
      "bench", "--shape", "tiny", "--device", "software", "--tests", "tg2", "--repetitions", "1", "--kernels")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("limits of the device: copy "), "\(run.output)")
    #expect(run.output.contains("us each") && run.output.contains(" matmul_"), "\(run.output)")
  }

  @Test func a_shape_runs_without_a_file() throws {
    let run = try Program.run("bench", "--shape", "tiny", "--tests", "b3", "--repetitions", "1")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains(" b3 |") && run.output.contains("% read") && run.output.contains("tiny"))
    let unknown = try Program.run("bench", "--shape", "gpt-9")
    #expect(unknown.status == 1 && unknown.errors.contains("'gpt-9'") && unknown.errors.contains("qwen3.5-0.8b"))
  }

  @Test func rows_are_drawn_against_their_limits() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString).svg").path
    defer { try? FileManager.default.removeItem(atPath: file) }
    let run = try Program.run(
      "bench", "--shape", "tiny", "--tests", "pp8,b2", "--repetitions", "1", "--threads", "1", "--plot", file)
    #expect(run.status == 0, "\(run.errors)")
    let picture = try String(contentsOfFile: file, encoding: .utf8)
    #expect(picture.hasPrefix("<svg") && picture.hasSuffix("</svg>\n"))
    #expect(
      picture.split(separator: "class=\"limit\"").count == 3 && picture.split(separator: "class=\"value\"").count == 3)
    #expect(picture.contains(">pp8<") && picture.contains(">b2<") && picture.contains("tiny"))
    let refused = try Program.run("bench", "--shape", "tiny", "--plot", "/dev/null/x.svg")
    #expect(refused.status == 1 && refused.errors.contains("/dev/null/x.svg: cannot be written"))
  }

  @Test func a_narrow_terminal_shows_what_all_rows_share_once() {
    func shown(_ width: Int?) -> String {
      let table = BenchTable(columns: [("model", 5), ("test", 6), ("tok/s", 8)], sharedCount: 1, screenWidth: width)
      return table.heading(["mini"]) + table.line(["mini", "tg8", "12.5"])
    }
    let whole = "| model |   test |    tok/s |\n|------:|-------:|---------:|\n|  mini |    tg8 |     12.5 |\n"
    #expect(shown(nil) == whole && shown(29) == whole)
    #expect(shown(28) == "model mini\n\n|   test |    tok/s |\n|-------:|---------:|\n|    tg8 |     12.5 |\n")
    #expect(shown(20) == "model mini\n\n  test   tg8\n  tok/s  12.5\n\n")
  }

  private func used(_ processors: Double, seconds: Double = 2) -> OtherUse {
    OtherUse(processorSeconds: processors * seconds, wallSeconds: seconds, processorCount: 4)
  }

  private func doubts(_ percent: Double, _ others: OtherUse?, _ atLimits: OtherUse?) -> [String] {
    BenchReport.doubts("tg128", percentOfLimit: percent, others: others, atLimits: atLimits)
      .split(separator: "\n").map(String.init)
  }

  @Test func results_above_the_limits_and_of_a_busy_machine_are_doubted() {
    #expect(doubts(98, used(0.02), used(0.05)).isEmpty && doubts(98, nil, nil).isEmpty)
    #expect(doubts(1053, nil, nil).count == 1 && doubts(1053, nil, nil)[0].hasPrefix("tg128: above 100 per cent"))
    let busy = "tg128: machine busy: other programs used 1.0 of 4 processors"
    #expect(doubts(50, used(1), nil) == [busy + "; the speed is too low."])
    #expect(doubts(130, used(1), used(0)).count == 2)
  }

  /// Shares of limits that were measured beside another load are too high, also where they look plausible.
  @Test func limits_measured_on_a_busy_machine_are_doubted_at_any_share() {
    let line =
      "tg128: machine busy: other programs used 0.5 of 4 processors while the limits were measured; "
      + "the shares of them are too high."
    for percent in [40, 100, 400] { #expect(doubts(Double(percent), used(0), used(0.5)) == [line]) }
  }

  @Test func a_busy_machine_is_in_the_json() throws {
    let run = try Program.run("bench", "--tests", "tg4", "--repetitions", "1", "--threads", "1", "--json")
    let row = try #require(JSONValue.parse(run.output)?["rows"]?.arrayValue?.first, "\(run.errors)")
    let share = try #require(row["pct_other_programs_at_limits"]?.doubleValue)
    #expect((0...100).contains(share))
  }

  @Test func text_in_pictures_is_escaped() {
    var svg = SVG(width: 10, height: 10, title: "a < b")
    svg.text("x & <y>", x: 1, y: 2, class: "ink")
    #expect(svg.document.contains("x &amp; &lt;y&gt;") && svg.document.contains("<title>a &lt; b</title>"))
  }

  @Test func tokens_and_requests_are_counted_over_time() {
    let spans = [
      ServePlot.Span(begin: 0, end: 1.9, tokens: [0.5, 1.5, 1.6]), ServePlot.Span(begin: 1, end: 4, tokens: [3.5, 4]),
    ]
    let series = ServePlot.series(spans, seconds: 4, binCount: 4)
    #expect(series.rates == [1, 2, 0, 2])
    #expect(series.open == [1, 2, 1, 1])
    #expect(ServePlot.series([], seconds: 0, binCount: 2).rates == [0, 0])
    #expect(ServePlot.chart(spans, seconds: 4, subtitle: "x").contains("class=\"curve\""))
  }

  @Test func drafts_are_measured_per_text_and_no_bit_differs() throws {
    try Program.withFolder { folder in
      let file = folder.appending(path: "prompts.jsonl")
      let prompts = #"{"kind": "loop", "prompt": "Repeat: one two three one two three"}"# + "\n\nTell me a story.\n"
      try prompts.write(to: file, atomically: true, encoding: .utf8)
      let run = try Program.run(
        "bench", "spec", "--prompts", file.path, "--tokens", "16", "--rounds", "1", "--sequences", "2", "--json")
      let report = try #require(JSONValue.parse(run.output), "\(run.errors)")
      let rows = try #require(report["rows"]?.arrayValue)
      #expect(rows.map { $0["text"]?.stringValue } == ["loop", "line 2"])
      for row in rows {
        #expect(row["differing_bits"]?.intValue == 0)
        #expect(row["accepted_by_place"]?.arrayValue?.count == 15)
        #expect(try #require(row["speedup"]?.doubleValue) > 0)
      }
    }
  }

  @Test func an_oracle_drafts_for_a_shape() throws {
    let run = try Program.run("bench", "spec", "--shape", "tiny", "--accept", "1", "--tokens", "24", "--rounds", "1")
    #expect(run.status == 0, "\(run.errors)")
    let cells = try #require(run.output.split(separator: "\n").last).split(separator: "|").map {
      $0.filter { $0 != " " }
    }
    #expect(cells.first == "randomids" && cells[4] == cells[5] && cells.last == "0", "\(run.output)")
    #expect(try #require(Int(cells[4])) > 0)
    #expect(try Program.run("bench", "spec", "--shape", "tiny", "--accept", "2").status == 64)
    #expect(try Program.run("bench", "spec", "--speculate", "off").status == 64)
  }

  @Test func a_row_with_drafts_needs_text() throws {
    let run = try Program.run("bench", "--tests", "tg4+spec,tg4", "--repetitions", "1", "--threads", "1", "--json")
    let rows = try #require(JSONValue.parse(run.output)?["rows"]?.arrayValue, "\(run.errors)")
    #expect(rows.map { $0["test"]?.stringValue } == ["tg4", "tg4+spec"])
    let refused = try Program.run("bench", "--shape", "tiny", "--tests", "tg4+spec", "--repetitions", "1")
    #expect(refused.status == 1 && refused.errors.contains("--shape"), "\(refused.errors)")
  }
}
