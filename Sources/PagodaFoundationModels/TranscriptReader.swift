// TranscriptReader: converts Foundation Models' transcripts and options to PagodaKit's types.
#if canImport(FoundationModels, _version: 2) || PAGODA_STUBS
import Foundation
import FoundationModels
import PagodaKit

@available(macOS 27.0, iOS 27.0, *)
enum TranscriptReader {
  static func request(from request: LanguageModelExecutorGenerationRequest) throws -> Request {
    var result = Request(messages: messages(of: request.transcript))
    result.sampling.temperature = request.generationOptions.temperature
    result.sampling.maximumTokens = request.generationOptions.maximumResponseTokens
    result.tools = try request.enabledToolDefinitions.map {
      ToolDefinition(name: $0.name, description: $0.description, parameters: try text(of: $0.parameters))
    }
    if let schema = request.schema { result.grammar = .jsonSchema(try text(of: schema)) }
    return result
  }

  /// Reasoning of earlier turns is left out, as with the framework's own models.
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
