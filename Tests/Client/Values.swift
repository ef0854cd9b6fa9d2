// Values that a client's tests make themselves: results, events, models in memory, and scripted engines.
import Foundation
import PagodaHub
import PagodaKit
import PagodaTesting

/// A response with every part.
func response() -> Response {
  let usage = Usage(promptTokens: 3, completionTokens: 2, cachedTokens: 1)
  let timings = Timings(queueMilliseconds: 0, promptMilliseconds: 1, generationMilliseconds: 2)
  let token = TokenInfo(
    id: 7, logProbability: -1, topLogProbabilities: [TokenLogProbability(id: 7, logProbability: -1)])
  return Response(
    text: "Hello", toolCalls: [ToolCall(id: "1", name: "time", arguments: "{}")],
    rejectedToolCalls: [RejectedToolCall(markup: "<tool>", reason: "unknown")], tokens: [token],
    completion: Completion(finishReason: .stop, usage: usage, timings: timings))
}

func results(_ name: ModelName) -> [Any] {
  var info = ModelInfo()
  info.plan = MemoryPlan()
  info.weightFormats = [WeightFormatSum()]
  info.otherWeights = [OtherWeights()]
  info.load = LoadSummary()
  var statistics = EngineStatistics()
  statistics.prefixCache = PrefixCacheStatistics()
  statistics.speculation = SpeculationStatistics()
  statistics.disk = DiskCacheStatistics()
  statistics.hostCache = HostCacheStatistics()
  statistics.experts = ExpertStatistics()
  return [
    info, ModelInfo.scripted, statistics, StructuredResponse(value: 5, response: response()), Transcript.version,
    PartialValue(value: 5, json: "5", isComplete: true), IncompleteOutput(json: "[5", message: "cut"),
    Embedding(values: [3, 4], tokenCount: 1).normalized(dimensions: 1), MatrixSum(parameterCount: 1, bytes: 2),
    PrefixMatch(matchedTokens: 2, cachedTokens: 1), LoadProgress(phase: .loading, fraction: 0.5),
    PromptProgress(completedTokens: 1, totalTokens: 2, elapsedSeconds: 0.1),
    QuantizeReport(inputBytes: 4, outputBytes: 2, quantizedCount: 1, fileCount: 1),
    OpTime(name: "matmul", calls: 1, seconds: 1, bytes: 1, operations: 1, limit: .read),
    ToolFailure(call: ToolCall(id: "1", name: "time", arguments: "{}"), error: CancellationError()),
    Transcript(instructions: "Be brief.", messages: [.tool("noon", callID: "1")]), PagodaVersion.current,
    Message(role: .assistant, content: "Hello", reasoning: "A greeting."),
    PulledModel(
      name: ModelName("a/b") ?? ModelName("c/d")!, commit: ModelName.defaultRevision, folder: "/a", bytes: 1,
      fileCount: 1),
    PullProgress(bytesDone: 1, bytesTotal: 2), HubHit(id: "a/b", downloads: 1, hasWeights: true, isGated: false),
    CachedModel(
      repository: "a/b",
      revisions: [
        CachedRevision(
          commit: "1", names: ["main"], folder: "/a", bytes: 1, fileCount: 1, isComplete: true, date: .distantPast)
      ], bytes: 1),
  ]
}

/// What a client shows about the machine, the engine's requests and the hub.
func measured() -> [Any] {
  let peak = MachineLimits.Peak(operationsPerSecond: 1e12, instruction: "vpdpbusd")
  let lane = EngineActivity.Lane(
    id: 1, state: .answering, promptTokens: 3, cachedTokens: 0, computedTokens: 5, generatedTokens: 2,
    maximumGeneratedTokens: 9, preemptions: 0)
  let step = EngineActivity.Step(index: 1, readTokens: 3, answering: 1, drafts: 0, preempted: 0, seconds: 0.01)
  let file = HubFile(path: "model.gguf", size: 5, sha256: String(repeating: "0", count: 64))
  return [
    MachineLimits(threadCount: 2, readBytesPerSecond: 1e10, int8: peak, bf16: peak, f32: peak),
    EngineActivity(lanes: [lane], steps: [step]),
    SpeculationBench.Row(
      kind: "story", plainTokensPerSecond: 100, tokensPerSecond: 150, speedup: 1.5,
      speculation: SpeculationStatistics(), differingBits: 0),
    HubListing(commit: "1", files: [file]), GGUFChoice(pattern: "model.gguf", files: [file]),
  ]
}

/// Models that are in memory, or that the client downloads itself.
func sources(_ config: UnsafeRawBufferPointer) -> [ModelSource] {
  let file = EmbeddedModel.File(name: "config.json", bytes: config)
  let fetched = FetchedModel(name: "mine") { progress in
    progress(1)
    return "/models/mine"
  }
  return [.embedded(EmbeddedModel(name: "tiny", files: [file])), .fetched(fetched), .directory(URL(filePath: "/a"))]
}

/// An engine of the client's own.
struct Echo: LanguageEngine {
  var info: ModelInfo { .scripted }
  var tokenizer: Tokenizer? { nil }
  var statistics: EngineStatistics { EngineStatistics() }
  func tokenCount(of request: Request) throws -> Int { 1 }
  func shutDown() async {}
  func submit(_ request: Request) -> AnswerStream<Event> {
    AnswerStream { continuation in
      continuation.onCancel { print("left") }
      continuation.yield(.text("Hello"))
      continuation.yield(.finished(response().completion))
      continuation.finish()
    }
  }
}

func scripts() async throws {
  let answers: [ScriptedAnswer] = [
    .text("Hello", reasoning: "A greeting."), .failure(PagodaError.shutDown("off")), .endless("Once"),
    ScriptedAnswer(events: [.text("Hi")]),
  ]
  for engine in [ScriptedEngine(answers), ScriptedEngine { _ in "Hello" }] as [any LanguageEngine] + [Echo()] {
    print(try await engine.respond(to: "Hi"))
    await engine.shutDown()
  }
}
