// BenchRunner: runs one test on an engine and returns its tokens per second.
import PagodaKit

struct BenchRunner {
  let engine: Engine
  let repetitions: Int
  /// Texts of tests with drafts.
  var prompts: [SpeculationBench.Prompt] = []
  /// Of top-p and min-p.
  private var temperature = 1.0

  init(engine: Engine, repetitions: Int, prompts: [SpeculationBench.Prompt] = []) {
    self.engine = engine
    self.repetitions = repetitions
    self.prompts = prompts
  }

  /// Before tests with top-p or min-p: see BenchSampling.temperature.
  mutating func chooseTemperature() async throws {
    var sampling = sampling(1)
    sampling.topLogProbabilities = 20
    var ids = TokenIDs(vocabularySize: engine.info.vocabularySize)
    let prompt = (0..<BenchTest.shortPrompt).map { _ in ids.next() }
    for try await event in engine.submit(Request(prompt: .tokens(prompt), sampling: sampling)) {
      guard case .token(let token) = event else { continue }
      temperature = BenchSampling.temperature(logProbabilities: token.topLogProbabilities.map(\.logProbability))
    }
  }

  /// Warms up caches, page tables and threads.
  func warmUp() async throws {
    let length = min(engine.info.plan.maximumBatchedTokens, engine.info.plan.maximumModelLength - 4)
    let clock = try start(sequences: 1, promptTokens: max(length, 1), generatedTokens: 4)
    _ = try await clock.allTokens()
  }

  /// Limits of the engine's device: its own if it runs kernels, otherwise those of the CPU.
  func limits(_ options: EngineOptions) async throws -> MachineLimits {
    let gpus: [EngineOptions.Device] = [.metal, .cuda, .software]
    guard let device = gpus.first(where: { $0.description == engine.info.deviceName }) else {
      return try await MachineLimits.measure(threadCount: options.threadCount)
    }
    return try await MachineLimits.measure(device, threadCount: options.threadCount)
  }

  /// Tokens per second, one value per repetition.
  func speeds(_ test: BenchTest) async throws -> [Double] {
    if case .speculative(let tokens) = test.kind { return try await textSpeeds(tokens) }
    if case .decode(let tokens, let depth) = test.kind, depth > 0 {
      let times = try await run(test).allTokens()[0]
      return (0..<repetitions).map { Double(tokens) / (times[($0 + 1) * tokens] - times[$0 * tokens]) }
    }
    var speeds: [Double] = []
    for _ in 0..<repetitions { speeds.append(try await speed(test)) }
    return speeds
  }

  /// One more run with the device's own clocks: the whole prompt, or decoding once every sequence decodes.
  func profile(_ test: BenchTest, byKernel: Bool = false) async throws -> [OpTime] {
    if byKernel { engine.setKernelProfiling(true) } else { engine.setProfiling(true) }
    defer { engine.setProfiling(false) }
    let clock = try run(test)
    let isDecoding = if case .prefill = test.kind { false } else { true }
    if isDecoding {
      try await clock.firstTokens()
      _ = await engine.takeProfile()
    }
    _ = try await clock.allTokens()
    return await engine.takeProfile()
  }

  /// The device's counts for one run: the whole prompt, or for decoding the difference from a run that ends with the
  /// first tokens. Not sampled during the run, because a device that executes nothing finishes before it could be
  /// sampled.
  func counts(_ test: BenchTest, byKernel: Bool = false) async throws -> [OpTime] {
    if case .speculative = test.kind { return try await profile(test) }
    if byKernel { engine.setKernelProfiling(true) } else { engine.setProfiling(true) }
    defer { engine.setProfiling(false) }
    _ = try await run(test).allTokens()
    let all = await engine.takeProfile()
    if case .prefill = test.kind { return all }
    _ = try await start(sequences: test.sequences, promptTokens: test.promptTokens, generatedTokens: 1).allTokens()
    let first = await engine.takeProfile()
    return all.map { time in
      guard let before = first.first(where: { $0.name == time.name }) else { return time }
      var rest = time
      rest.calls -= before.calls
      rest.seconds -= before.seconds
      rest.bytes -= before.bytes
      rest.operations -= before.operations
      return rest
    }
  }

  private func speed(_ test: BenchTest) async throws -> Double {
    switch test.kind {
    case .batch: return try await batchSpeed(test)
    case .prefill(let tokens): return Double(tokens) / (try await run(test).allTokens()[0][0])
    case .decode(let tokens, _), .speculative(let tokens):
      let times = try await run(test).allTokens()[0]
      return Double(tokens) / (times[tokens] - times[0])
    }
  }

  /// Retries, because on a busy machine the first sequences of a small model may end before the last request arrives.
  private func batchSpeed(_ test: BenchTest) async throws -> Double {
    for _ in 0..<10 {
      if let speed = batchSpeed(try await run(test).allTokens()) { return speed }
    }
    throw CommandFailure("the \(test.sequences) sequences never decoded together; raise --max-num-batched-tokens")
  }

  /// All texts one after another, once per repetition.
  private func textSpeeds(_ tokens: Int) async throws -> [Double] {
    guard engine.info.hasTokenizer, !prompts.isEmpty else {
      throw CommandFailure("+spec needs text: a model with a tokenizer; see also 'pagoda bench spec --accept'")
    }
    var speeds: [Double] = []
    for _ in 0..<repetitions {
      var seconds = 0.0
      for prompt in prompts {
        let times = try await start([try request(prompt.text, tokens: tokens)]).allTokens()[0]
        seconds += times[tokens] - times[0]
      }
      speeds.append(Double(tokens * prompts.count) / seconds)
    }
    return speeds
  }

  private func request(_ text: String, tokens: Int) throws -> Request {
    let isChat = engine.info.hasChatTemplate
    return Request(
      prompt: isChat ? .messages([Message(role: .user, content: text)]) : .text(text), sampling: sampling(1 + tokens))
  }

  /// The rate over the steps in which all sequences decode: from the latest first token to the earliest last token, in
  /// whole steps of the sequence that started last; nil if they never all decoded together.
  private func batchSpeed(_ times: [[Double]]) -> Double? {
    let last = times.max { $0[0] < $1[0] } ?? []
    let end = times.map { $0[$0.count - 1] }.min() ?? 0
    guard let first = last.first, let final = last.last(where: { $0 <= end }), final > first else {
      return nil
    }
    return Double(times.joined().count { $0 > first && $0 <= final }) / (final - first)
  }

  private func run(_ test: BenchTest) throws -> TokenClock {
    if case .speculative(let tokens) = test.kind, let prompt = prompts.first {
      return try start([try request(prompt.text, tokens: tokens)])
    }
    if test.sampling == .grammar && !engine.info.hasTokenizer {
      throw CommandFailure("\(test.name) needs a model with a tokenizer, not --shape")
    }
    return try start(
      sequences: test.sequences, promptTokens: test.promptTokens,
      generatedTokens: test.generatedTokens(repetitions: repetitions), sampling: test.sampling)
  }

  private func start(
    sequences: Int, promptTokens: Int, generatedTokens: Int, sampling kind: BenchSampling = .greedy
  ) throws -> TokenClock {
    let sampling = sampling(generatedTokens)
    var ids = TokenIDs(vocabularySize: engine.info.vocabularySize)
    let requests = (0..<sequences).map { index in
      var request = Request(prompt: .tokens((0..<promptTokens).map { _ in ids.next() }), sampling: sampling)
      request.sampling.seed = UInt64(index)
      kind.apply(to: &request, temperature: temperature)
      return request
    }
    return try start(requests)
  }

  private func start(_ requests: [Request]) throws -> TokenClock {
    let clock = TokenClock(requestCount: requests.count)
    try clock.start(requests, on: engine)
    return clock
  }

  private func sampling(_ tokens: Int) -> SamplingParameters {
    var sampling = SamplingParameters()
    sampling.temperature = 0
    sampling.ignoresEndOfText = true
    sampling.maximumTokens = tokens
    return sampling
  }
}

/// The same random ids in every run.
private struct TokenIDs {
  let vocabularySize: Int
  private var state: UInt64 = 42

  init(vocabularySize: Int) { self.vocabularySize = vocabularySize }

  mutating func next() -> Int32 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int32((state >> 33) % UInt64(vocabularySize))
  }
}
