// TranscriptReader: converts Foundation Models' transcripts and options to PagodaKit's types.
#if canImport(FoundationModels, _version: 2) || PAGODA_STUBS
import Foundation
import FoundationModels
import PagodaKit

@available(macOS 27.0, iOS 27.0, *)
enum TranscriptReader {
  static func request(from request: LanguageModelExecutorGenerationRequest) throws -> Request {
    var result = Request(messages: messages(of: request.transcript))
    result.sampling = sampling(of: request.generationOptions)
    if let choice = toolChoice(of: request.generationOptions.toolCallingMode) {
      result.toolChoice = choice
      result.tools = try request.enabledToolDefinitions.map {
        ToolDefinition(name: $0.name, description: $0.description, parameters: try text(of: $0.parameters))
      }
    }
    if let schema = request.schema { result.grammar = .jsonSchema(try text(of: schema)) }  // PagodaKit reads x-order
    if let level = request.contextOptions.reasoningLevel {
      result.thinking = true
      result.sampling.thinkingBudget = thinkingBudget(of: level)
    }
    return result
  }

  private static func sampling(of options: GenerationOptions) -> SamplingParameters {
    var sampling = SamplingParameters()
    sampling.temperature = options.temperature
    sampling.maximumTokens = options.maximumResponseTokens
    switch options.samplingMode?.kind {
    case .greedy: sampling.temperature = 0
    case .randomTopK(let count, let seed):
      sampling.topK = count
      sampling.seed = seed
    case .randomProbabilityThreshold(let threshold, let seed):
      sampling.topP = threshold
      sampling.seed = seed
    default: break
    }
    return sampling
  }

  /// Nil if no tools may be called.
  private static func toolChoice(of mode: GenerationOptions.ToolCallingMode?) -> Request.ToolChoice? {
    switch mode?.kind {
    case .disallowed: nil
    case .required: .required
    default: .automatic
    }
  }

  /// Tokens of thinking; nil leaves the number to the model.
  private static func thinkingBudget(of level: ContextOptions.ReasoningLevel) -> Int? {
    switch level {
    case .light: 512
    case .moderate: 4096
    default: nil
    }
  }

  /// The framework's error for an engine error; other errors are returned unchanged.
  static func error(_ error: any Error, contextSize: Int, tokenCount: Int) -> any Error {
    switch error {
    case PagodaError.contextOverflow(let message):
      LanguageModelError.contextSizeExceeded(
        .init(contextSize: contextSize, tokenCount: tokenCount, debugDescription: message))
    case PagodaError.resourceExhausted(let message):
      LanguageModelError.rateLimited(.init(resetDate: nil, debugDescription: message))
    case PagodaError.unsupported(let message):
      LanguageModelError.unsupportedGenerationGuide(.init(schemaName: "", debugDescription: message))
    case PagodaError.cancelled(_): CancellationError()
    default: error
    }
  }

  /// Reasoning of earlier turns is omitted, as with the framework's own models.
  static func messages(of transcript: FoundationModels.Transcript) -> [Message] {
    transcript.compactMap { entry in
      switch entry {
      case .instructions(let instructions): .system(text(of: instructions.segments))
      case .prompt(let prompt): .user(text(of: prompt.segments))
      case .response(let response): .assistant(text(of: response.segments))
      case .toolOutput(let output): .tool(text(of: output.segments), callID: output.id)
      case .toolCalls(let calls):
        Message(
          role: .assistant, content: "",
          toolCalls: calls.map { ToolCall(id: $0.id, name: $0.toolName, arguments: $0.arguments.jsonString) })
      default: nil
      }
    }
  }

  private static func text(of segments: [FoundationModels.Transcript.Segment]) -> String {
    segments.compactMap { segment in
      switch segment {
      case .text(let text): text.content
      case .structure(let structure): structure.content.jsonString
      default: nil
      }
    }.joined(separator: "\n")
  }

  private static func text(of schema: GenerationSchema) throws -> String {
    String(decoding: try JSONEncoder().encode(schema), as: UTF8.self)
  }
}
#endif
