// Errors arrive typed, with a message for people.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@Suite struct ErrorTests {
  @Test func a_missing_folder_is_not_found() async throws {
    let error = await #expect(throws: PagodaError.self) {
      try await Engine.load(.directory(URL(filePath: "/no/such/model")))
    }
    let given = try #require(error)
    #expect(given.code == "not_found", "\(given)")
    #expect(given.message.contains("/no/such/model"))
    #expect((given as any Error).localizedDescription == given.message)
  }

  @Test func a_folder_that_is_no_model_says_what_is_missing() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pagoda-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let error = await #expect(throws: PagodaError.self) { try await Engine.inspect(.directory(folder)) }
    #expect(try #require(error).message.contains("config.json"))
  }

  @Test func instructions_that_the_machine_does_not_have_are_named() async throws {
    var options = EngineOptions()
    options.device = .cpuWith(instructions: "abacus")
    let error = await #expect(throws: PagodaError.self) { try await Engine.load(.mini, options: options) }
    #expect(try #require(error).message.contains("abacus"))
  }

  @Test func a_zero_is_no_default() async throws {
    let changes: [(String, (inout EngineOptions) -> Void)] = [
      ("threadCount", { $0.threadCount = 0 }), ("maximumModelLength", { $0.maximumModelLength = 0 }),
      ("kvBlockCount", { $0.kvBlockCount = -1 }), ("checkpointBytes", { $0.checkpointBytes = 0 }),
      ("hostCacheBytes", { $0.hostCacheBytes = 0 }), ("maximumImageTokens", { $0.maximumImageTokens = 0 }),
      ("imageCacheBytes", { $0.imageCacheBytes = -1 }),
      ("maximumStepMilliseconds", { $0.maximumStepMilliseconds = 0 }), ("maximumDrafts", { $0.maximumDrafts = 0 }),
    ]
    for (name, change) in changes {
      var options = EngineOptions()
      change(&options)
      let error = await #expect(throws: PagodaError.self) { try await Engine.inspect(.mini, options: options) }
      #expect(error?.code == "invalid_argument" && error?.message.contains(name) == true, "\(name)")
    }
  }

  @Test func devices_and_scaling_rules_are_read_as_they_are_written() {
    let devices: [EngineOptions.Device] = [
      .automatic, .cpu, .cpuWith(instructions: "avx2"), .metal, .cuda, .software,
      .dry(overlapping: false), .dry(overlapping: true), .reference,
    ]
    for device in devices { #expect(EngineOptions.Device(device.description) == device) }
    for name in ["abacus", "", "cpu:", "CPU"] { #expect(EngineOptions.Device(name) == nil) }
    let rules: [EngineOptions.RopeScaling] = [
      .off, .linear(factor: 2), .dynamic(factor: 1.5, trainedContext: 4096), .yarn(factor: 4, trainedContext: 32768),
    ]
    for rule in rules { #expect(EngineOptions.RopeScaling(rule.description) == rule) }
    for name in ["", "yarn", "yarn:", "yarn:x", "yarn:4:", "yarn:4:x", "yarn:4:1:1", "llama3:4", "none:4"] {
      #expect(EngineOptions.RopeScaling(name) == nil, "\(name)")
    }
  }

  @Test func a_prompt_that_cannot_fit_is_a_context_overflow() async throws {
    let engine = try await Shared.engine
    let ids = [Int32](repeating: 5, count: engine.info.plan.maximumModelLength + 1)
    let error = await #expect(throws: PagodaError.self) { try await engine.respond(to: Request(prompt: .tokens(ids))) }
    #expect(try #require(error).code == "context_overflow")
  }

  @Test(arguments: [
    SamplingParameters(temperature: -1), SamplingParameters(temperature: .nan), SamplingParameters(topP: 0),
    SamplingParameters(minP: 1), SamplingParameters(maximumTokens: 0), SamplingParameters(maximumTokens: -1),
    SamplingParameters(repetitionPenalty: 0), SamplingParameters(topK: -1), SamplingParameters(presencePenalty: 3),
  ])
  func bad_values_are_invalid_arguments(_ sampling: SamplingParameters) async throws {
    let engine = try await Shared.engine
    let error = await #expect(throws: PagodaError.self) {
      try await engine.respond(to: Request("x", sampling: sampling))
    }
    #expect(error?.code == "invalid_argument")
  }

  @Test(arguments: [Request.Prompt.tokens([]), .tokens([-1]), .tokens([1 << 30]), .text("")])
  func bad_prompts_are_invalid_arguments(_ prompt: Request.Prompt) async throws {
    let engine = try await Shared.engine
    let error = await #expect(throws: PagodaError.self) { try await engine.respond(to: Request(prompt: prompt)) }
    #expect(error?.code == "invalid_argument")
  }

  @Test func an_engine_that_was_shut_down_says_so() async throws {
    let engine = try await Engine.load(.mini)
    await engine.shutDown()
    let error = await #expect(throws: PagodaError.self) { try await engine.respond(to: Request("x")) }
    #expect(try #require(error).code == "shut_down")
  }

  @Test func a_field_is_renamed_where_the_message_has_it_as_a_word() {
    func message(_ text: String) -> String {
      RefusedField("dtype", .unsupported(text)).named(FieldNames(["dtype": "--dtype"])).message
    }
    #expect(message("dtype \"x\" is unknown") == "--dtype \"x\" is unknown")
    #expect(message("kv_dtype and dtype[0]; dtype") == "kv_dtype and --dtype[0]; dtype")
    #expect(message("no number format of weights") == "no number format of weights")
    #expect(RefusedField("top_p", .invalidArgument("top_p")).named(FieldNames([:])) == .invalidArgument("top_p"))
  }

  @Test(arguments: [
    ("maximumSequences", EngineOptions(maximumSequences: -1)),
    ("maximumSequences", EngineOptions(maximumSequences: 9999)),
    ("blockSize", EngineOptions(blockSize: 7)), ("maximumModelLength", EngineOptions(maximumModelLength: 1 << 27)),
    ("maximumDrafts", EngineOptions(maximumDrafts: 99)), ("kvCacheBytes", EngineOptions(kvCacheBytes: 1)),
    ("prefixCacheFolder", EngineOptions(prefixCacheFolder: "x", pipeline: .stages(["localhost:1"]))),
  ])
  func errors_of_options_name_the_property(name: String, options: EngineOptions) async throws {
    let error = await #expect(throws: PagodaError.self) { try await Engine.inspect(.mini, options: options) }
    let message = try #require(error).message
    #expect(message.contains(name) && !message.contains("_"), "\(message)")
  }

  @Test(arguments: [
    ("maximumTokens", SamplingParameters(maximumTokens: 0)), ("topP", SamplingParameters(topP: 2)),
    ("topK", SamplingParameters(topK: -1)), ("presencePenalty", SamplingParameters(presencePenalty: 3)),
    ("minimumTokens", SamplingParameters(maximumTokens: 1, minimumTokens: 2)),
    ("logitBias", SamplingParameters(logitBias: [-5: 1])),
    ("topLogProbabilities", SamplingParameters(topLogProbabilities: 99)),
  ])
  func errors_of_sampling_name_the_property(name: String, sampling: SamplingParameters) async throws {
    let engine = try await Shared.engine
    for session in [true, false] {
      let error = await #expect(throws: PagodaError.self) {
        _ =
          session
          ? try await ChatSession(engine, sampling: sampling).respond(to: "x")
          : try await engine.respond(to: "x", sampling: sampling)
      }
      #expect(error?.message.contains(name) == true, "\(String(describing: error))")
    }
  }
}
