// Shared by the tests of the app's logic: a folder per test, and a scripted engine.
import Foundation
import PagodaChatCore
import PagodaKit

/// A folder for one test, removed afterwards.
func withFolder<Result>(
  isolation: isolated (any Actor)? = #isolation, _ body: (URL) async throws -> Result
) async throws -> Result {
  let folder = FileManager.default.temporaryDirectory.appending(path: "pagoda-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder)
}

/// Waits for a condition that another task will make true; at most five minutes, because the machine may be busy.
@MainActor func eventually(_ condition: () -> Bool) async -> Bool {
  let deadline = ContinuousClock.now + .seconds(300)
  while !condition() {
    if ContinuousClock.now > deadline { return false }
    try? await Task.sleep(for: .milliseconds(10))
  }
  return true
}

/// A value shared by several threads. (The standard library's `Mutex` needs a newer macOS than the package.)
final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}

/// Exposes each stream's continuation to the test, and records requests and how streams ended.
final class ScriptedEngine: ChatEngine {
  typealias Continuation = AnswerStream<Event>.Continuation

  struct State {
    var requests: [Request] = []
    var continuations: [Continuation] = []
    var cancelled = 0
    var isShutDown = false
  }

  let state = Locked(State())
  let contextLength = 4096
  let device = "scripted device"
  let thinksByDefault: Bool?
  var load: EngineLoad { EngineLoad() }

  init(thinksByDefault: Bool? = nil) { self.thinksByDefault = thinksByDefault }

  func submit(_ request: Request) -> AnswerStream<Event> {
    AnswerStream { continuation in
      continuation.onCancel { [self] in state.withLock { $0.cancelled += 1 } }
      state.withLock {
        $0.requests.append(request)
        $0.continuations.append(continuation)
      }
    }
  }

  func shutDown() async { state.withLock { $0.isShutDown = true } }

  var answer: Continuation { state.withLock { $0.continuations[$0.continuations.count - 1] } }
  var lastMessages: [Message] {
    guard case .messages(let messages) = state.withLock({ $0.requests.last })?.prompt else { return [] }
    return messages
  }

  /// Streams a text and finishes.
  func say(_ text: String, _ reason: FinishReason = .stop) {
    answer.yield(.token(TokenInfo(id: 1)))
    answer.yield(.text(text))
    let usage = Usage(promptTokens: 10, completionTokens: 5, cachedTokens: 4)
    let timings = Timings(queueMilliseconds: 100, promptMilliseconds: 400, generationMilliseconds: 2000)
    answer.yield(.finished(Completion(finishReason: reason, usage: usage, timings: timings)))
    answer.finish()
  }
}

/// "Loads" one engine, or fails; a gate holds loads back until the test opens it.
struct ScriptedLoader: ModelLoader {
  var engine = ScriptedEngine()
  var error: PagodaError?
  var gate: Gate?
  let loads = Locked<[LoadSettings]>([])

  func load(
    _ source: ModelSource, _ settings: LoadSettings, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> any ChatEngine {
    loads.withLock { $0.append(settings) }
    progress(0.5)
    await gate?.wait()
    if let error { throw error }
    return engine
  }

  /// 4 bits per weight fit, anything else does not.
  func estimate(_ source: ModelSource, _ settings: LoadSettings) async throws -> MemoryEstimate {
    if settings.contextLength == 7 { throw PagodaError.invalidArgument("7 tokens are no context") }
    return MemoryEstimate(
      weightsBytes: settings.weights == .fourBit ? 200 : 600, workingBytes: 500, limitBytes: 1000)
  }
}

/// Holds tasks back until it is opened.
actor Gate {
  private var isOpen = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  func wait() async {
    if isOpen { return }
    await withCheckedContinuation { waiters.append($0) }
  }

  func open() {
    isOpen = true
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}

/// Exposes the stream of the last download to the test.
final class ScriptedDownloader: ModelDownloader {
  let slow = Gate()  // searches for unknown words end when it is opened

  struct State {
    var installed: [InstalledModel] = []
    var searches = 0  // number of searches that have ended
    var last: AsyncThrowingStream<DownloadProgress, any Error>.Continuation?
    var downloads: [String] = []
    var found: [String: [FoundModel]] = [:]  // by search words
    var choices: [String: [ModelChoice]] = [:]  // by repository
  }

  let state = Locked(State())
  var last: AsyncThrowingStream<DownloadProgress, any Error>.Continuation { state.withLock { $0.last! } }

  func installed() async throws -> [InstalledModel] { state.withLock { $0.installed } }

  func download(_ id: String) -> AsyncThrowingStream<DownloadProgress, any Error> {
    AsyncThrowingStream { continuation in
      state.withLock {
        $0.last = continuation
        $0.downloads.append(id)
      }
    }
  }

  func download(_ id: String, only choice: ModelChoice) -> AsyncThrowingStream<DownloadProgress, any Error> {
    download("\(id) \(choice.id)")
  }

  /// A search for unknown words takes until the test opens `slow`, cancelled or not; "fails" fails.
  func search(_ words: String) async throws -> [FoundModel] {
    if words == "fails" { throw PagodaError.notFound("no network") }
    if let found = state.withLock({ $0.found[words] }) { return found }
    await slow.wait()
    defer { state.withLock { $0.searches += 1 } }
    return [FoundModel(id: "slow/\(words)", downloads: 1)]
  }

  func choices(of id: String) async throws -> [ModelChoice] { state.withLock { $0.choices[id] ?? [] } }

  func remove(_ id: String) async throws { state.withLock { $0.installed.removeAll { $0.id == id } } }
}
