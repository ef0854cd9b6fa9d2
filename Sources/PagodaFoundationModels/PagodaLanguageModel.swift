// PagodaLanguageModel: a Pagoda model for Apple's LanguageModelSession, on systems whose framework accepts custom
// models.
// macOS 26's framework has the same name but lacks the protocol, hence the version check; elsewhere this target is
// empty.
#if canImport(FoundationModels, _version: 2) || PAGODA_STUBS
import Foundation
import FoundationModels
import PagodaKit

/// A Pagoda model for `LanguageModelSession`.
///
/// ```swift
/// let session = LanguageModelSession(model: PagodaLanguageModel(ModelContainer(.mini)))
/// print(try await session.respond(to: "What is the capital of France?").content)
/// ```
@available(macOS 27.0, iOS 27.0, *)
public struct PagodaLanguageModel: LanguageModel {
  /// The type that runs requests.
  public typealias Executor = PagodaExecutor

  /// The model, loaded on first use.
  public let container: ModelContainer

  /// A model for sessions of the framework.
  public init(_ container: ModelContainer) { self.container = container }

  /// Structured output, tools, and separate reasoning.
  public var capabilities: LanguageModelCapabilities {
    LanguageModelCapabilities([.guidedGeneration, .toolCalling, .reasoning])
  }

  /// Executors with the same container are shared.
  public var executorConfiguration: PagodaExecutor.Configuration { PagodaExecutor.Configuration(container: container) }
}

/// Runs the framework's requests on a Pagoda engine.
@available(macOS 27.0, iOS 27.0, *)
public struct PagodaExecutor: LanguageModelExecutor {
  /// The model it runs.
  public typealias Model = PagodaLanguageModel

  /// Which model to run; equal for the same container.
  public struct Configuration: Hashable, Sendable {
    let container: ModelContainer

    /// Whether both run the same container.
    public static func == (first: Configuration, second: Configuration) -> Bool { first.container === second.container }
    /// Hashes the container's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(container)) }
  }

  private let container: ModelContainer

  /// An executor for a model.
  public init(configuration: Configuration) throws { container = configuration.container }

  /// Loads the model and prefills the conversation so far.
  public func prewarm(model: PagodaLanguageModel, transcript: FoundationModels.Transcript) {
    let messages = TranscriptReader.messages(of: transcript)
    Task { [container] in
      var request = Request(messages: messages + [.user("")])
      request.sampling.maximumTokens = 1
      _ = try? await container.engine().respond(to: request)
    }
  }

  /// Streams a response into the framework's channel.
  nonisolated(nonsending) public func respond(
    to request: LanguageModelExecutorGenerationRequest, model: PagodaLanguageModel,
    streamingInto channel: LanguageModelExecutorGenerationChannel
  ) async throws {
    let engine = try await container.engine()
    let own = try TranscriptReader.request(from: request)
    do {
      try await stream(engine.submit(own), into: channel)
    } catch {
      let count = (try? engine.tokenCount(of: own)) ?? 0
      throw TranscriptReader.error(error, contextSize: engine.info.plan.maximumModelLength, tokenCount: count)
    }
    try Task.checkCancellation()
  }

  nonisolated(nonsending) private func stream(
    _ events: AnswerStream<Event>, into channel: LanguageModelExecutorGenerationChannel
  ) async throws {
    var count = 0  // tokens since the last text: text is held back until it is certain
    var reasoningCount = 0
    func take() -> Int {
      defer { count = 0 }
      return count
    }
    for try await event in events {
      switch event {
      case .text(let text): await channel.send(.response(action: .appendText(text, tokenCount: take())))
      case .reasoning(let text):
        reasoningCount += count
        await channel.send(.reasoning(action: .appendText(text, tokenCount: take())))
      case .toolCall(let call):
        let arguments = LanguageModelExecutorGenerationChannel.ArgumentsAction.appendArguments(
          call.arguments, tokenCount: take())
        await channel.send(.toolCalls(action: .toolCall(id: call.id, name: call.name, action: arguments)))
      case .token: count += 1
      case .rejectedToolCall, .toolFailed, .promptProgress, .contextTrimmed: break
      case .finished(let completion):
        let usage = completion.usage
        await channel.send(
          .response(
            action: .updateUsage(
              input: .init(totalTokenCount: usage.promptTokens, cachedTokenCount: usage.cachedTokens),
              output: .init(totalTokenCount: usage.completionTokens, reasoningTokenCount: reasoningCount))))
      @unknown default: break
      }
    }
  }
}
#endif
