// PagodaModel: a Pagoda model for AnyLanguageModel's LanguageModelSession.
import AnyLanguageModel
import PagodaKit

/// A Pagoda model for AnyLanguageModel's `LanguageModelSession`.
///
/// ```swift
/// let session = LanguageModelSession(model: PagodaModel(ModelContainer(.folder(path: "Models/Qwen3.5-0.8B"))))
/// print(try await session.respond(to: "What is the capital of France?").content)
/// ```
public struct PagodaModel: LanguageModel {
  /// A model that cannot be loaded reports its error when it is used.
  public typealias UnavailableReason = Never

  /// The model, loaded on first use.
  public let container: ModelContainer

  /// A model for sessions.
  public init(_ container: ModelContainer) { self.container = container }

  /// Loads the model.
  public func prewarm(for session: LanguageModelSession, promptPrefix: AnyLanguageModel.Prompt?) {
    Task { [container] in try? await container.preload() }
  }

  /// The whole answer, after the tools it called. The session has already added the prompt to its transcript.
  public func respond<Content>(
    within session: LanguageModelSession, to prompt: AnyLanguageModel.Prompt, generating type: Content.Type,
    includeSchemaInPrompt: Bool, options: GenerationOptions
  ) async throws -> LanguageModelSession.Response<Content> where Content: Generable {
    let answer = try await Turn(container, session, options, try grammar(for: type)).run { _ in }
    let raw = try content(of: answer.text, for: type)
    return LanguageModelSession.Response(
      content: try Content(raw), rawContent: raw, transcriptEntries: answer.entries[...])
  }

  /// The answer as it grows; a structured answer whenever the received part is valid JSON.
  public func streamResponse<Content>(
    within session: LanguageModelSession, to prompt: AnyLanguageModel.Prompt, generating type: Content.Type,
    includeSchemaInPrompt: Bool, options: GenerationOptions
  ) -> sending LanguageModelSession.ResponseStream<Content> where Content: Generable {
    let stream = AsyncThrowingStream<LanguageModelSession.ResponseStream<Content>.Snapshot, any Error> { continuation in
      let task = Task<Void, Never> { await self.answer(session, type, options, into: continuation) }
      continuation.onTermination = { _ in task.cancel() }
    }
    return LanguageModelSession.ResponseStream(stream: stream)
  }

  private typealias Snapshots<Content: Generable> = AsyncThrowingStream<
    LanguageModelSession.ResponseStream<Content>.Snapshot, any Error
  > where Content.PartiallyGenerated: Sendable

  private func answer<Content: Generable>(
    _ session: LanguageModelSession, _ type: Content.Type, _ options: GenerationOptions,
    into continuation: Snapshots<Content>.Continuation
  ) async {
    do {
      let turn = Turn(container, session, options, try grammar(for: type))
      _ = try await turn.run { (text: String) in
        if let snapshot = try? snapshot(of: text, for: type) { continuation.yield(snapshot) }
      }
      continuation.finish()
    } catch {
      continuation.finish(throwing: error)
    }
  }
}

private func grammar<Content: Generable>(for type: Content.Type) throws -> Request.Grammar? {
  type == String.self ? nil : .jsonSchema(try jsonText(of: type.generationSchema))
}

private func content<Content: Generable>(of text: String, for type: Content.Type) throws -> GeneratedContent {
  type == String.self ? GeneratedContent(text) : try GeneratedContent(json: text)
}

private func snapshot<Content: Generable>(
  of text: String, for type: Content.Type
) throws -> LanguageModelSession.ResponseStream<Content>.Snapshot {
  let raw = try content(of: text, for: type)
  return .init(content: try Content.PartiallyGenerated(raw), rawContent: raw)
}
