// A stub of FoundationModels (the version that accepts custom models) for Linux, for type checking only.
@_exported import Foundation

public protocol LanguageModel: Sendable {
  associatedtype Executor: LanguageModelExecutor where Executor.Model == Self
  var capabilities: LanguageModelCapabilities { get }
  var executorConfiguration: Executor.Configuration { get }
}

public struct LanguageModelCapabilities: Sendable {
  public enum Capability: Sendable { case guidedGeneration, toolCalling, reasoning, vision }
  public init(_ capabilities: [Capability]) {}
}

public protocol LanguageModelExecutor: Sendable {
  associatedtype Model: LanguageModel
  associatedtype Configuration: Hashable & Sendable
  init(configuration: Configuration) throws
  func prewarm(model: Model, transcript: Transcript)
  nonisolated(nonsending) func respond(
    to request: LanguageModelExecutorGenerationRequest, model: Model,
    streamingInto channel: LanguageModelExecutorGenerationChannel
  ) async throws
}

public struct LanguageModelExecutorGenerationRequest: Sendable {
  public var transcript: Transcript
  public var enabledToolDefinitions: [Transcript.ToolDefinition]
  public var schema: GenerationSchema?
  public var generationOptions: GenerationOptions
  public var contextOptions: ContextOptions
}

public struct ContextOptions: Sendable {
  public enum ReasoningLevel: Sendable { case light, moderate, deep }
  public var includeSchemaInPrompt: Bool?
  public var reasoningLevel: ReasoningLevel?
}

public enum LanguageModelError: Error {
  public struct ContextSizeExceeded: Sendable {
    public init(contextSize: Int, tokenCount: Int, debugDescription: String) {}
  }
  public struct RateLimited: Sendable { public init(resetDate: Date?, debugDescription: String) {} }
  public struct UnsupportedCapability: Sendable {
    public init(capability: LanguageModelCapabilities.Capability, debugDescription: String) {}
  }
  public struct UnsupportedGenerationGuide: Sendable { public init(schemaName: String, debugDescription: String) {} }
  case contextSizeExceeded(ContextSizeExceeded), rateLimited(RateLimited)
  case unsupportedCapability(UnsupportedCapability), unsupportedGenerationGuide(UnsupportedGenerationGuide)
}

public struct GenerationOptions: Sendable {
  public struct SamplingMode: Sendable {
    public enum Kind: Sendable, Equatable {
      case greedy, randomTopK(Int, seed: UInt64?), randomProbabilityThreshold(Double, seed: UInt64?)
    }
    public var kind: Kind
  }
  public struct ToolCallingMode: Sendable, Equatable {
    public enum Kind: Sendable { case allowed, required, disallowed }
    public var kind: Kind
  }
  public var samplingMode: SamplingMode?
  public var toolCallingMode: ToolCallingMode?
  public var temperature: Double?
  public var maximumResponseTokens: Int?
}

public struct GenerationSchema: Sendable, Encodable { public func encode(to encoder: any Encoder) throws {} }
public struct GeneratedContent: Sendable { public var jsonString: String }

public struct Transcript: Sendable, RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { 0 }
  public subscript(index: Int) -> Entry { fatalError() }

  public enum Entry: Sendable {
    case instructions(Instructions), prompt(Prompt), toolCalls(ToolCalls), toolOutput(ToolOutput), response(Response)
    case reasoning(Reasoning)
  }
  public enum Segment: Sendable { case text(TextSegment), structure(StructuredSegment) }
  public struct TextSegment: Sendable { public var content: String }
  public struct StructuredSegment: Sendable { public var content: GeneratedContent }
  public struct Instructions: Sendable { public var segments: [Segment] }
  public struct Prompt: Sendable { public var segments: [Segment] }
  public struct Response: Sendable { public var segments: [Segment] }
  public struct Reasoning: Sendable { public var segments: [Segment] }
  public struct ToolOutput: Sendable { public var id: String, segments: [Segment] }
  public struct ToolCall: Sendable { public var id: String, toolName: String, arguments: GeneratedContent }
  public struct ToolCalls: Sendable, RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public subscript(index: Int) -> ToolCall { fatalError() }
  }
  public struct ToolDefinition: Sendable { public var name: String, description: String, parameters: GenerationSchema }
}

public struct LanguageModelExecutorGenerationChannel: Sendable {
  public func send(_ event: Event) async {}

  public struct Event: Sendable {
    public static func response(entryID: String? = nil, action: TextAction) -> Event { Event() }
    public static func reasoning(entryID: String? = nil, action: TextAction) -> Event { Event() }
    public static func toolCalls(entryID: String? = nil, action: ToolCallsAction) -> Event { Event() }
  }
  public struct TextAction: Sendable {
    public static func appendText(_ text: String, tokenCount: Int) -> TextAction { TextAction() }
    public static func updateUsage(input: Usage.Input, output: Usage.Output) -> TextAction { TextAction() }
  }
  public struct ToolCallsAction: Sendable {
    public static func toolCall(id: String, name: String, action: ArgumentsAction) -> ToolCallsAction {
      ToolCallsAction()
    }
  }
  public struct ArgumentsAction: Sendable {
    public static func appendArguments(_ text: String, tokenCount: Int) -> ArgumentsAction { ArgumentsAction() }
  }
  public enum Usage {
    public struct Input: Sendable { public init(totalTokenCount: Int, cachedTokenCount: Int) {} }
    public struct Output: Sendable { public init(totalTokenCount: Int, reasoningTokenCount: Int) {} }
  }
}
