// A stub of AnyLanguageModel 0.9.0 for type checking only: its public declarations that the example adapter uses.
import Foundation

public enum Availability<UnavailableReason> { case available, unavailable(UnavailableReason) }

public protocol CustomGenerationOptions: Equatable, Sendable {}
extension Never: CustomGenerationOptions {}

public protocol LanguageModel: Sendable {
  associatedtype UnavailableReason
  associatedtype CustomGenerationOptions: AnyLanguageModel.CustomGenerationOptions = Never
  var availability: Availability<UnavailableReason> { get }
  func prewarm(for session: LanguageModelSession, promptPrefix: Prompt?)
  func respond<Content>(
    within session: LanguageModelSession, to prompt: Prompt, generating type: Content.Type,
    includeSchemaInPrompt: Bool, options: GenerationOptions
  ) async throws -> LanguageModelSession.Response<Content> where Content: Generable
  func streamResponse<Content>(
    within session: LanguageModelSession, to prompt: Prompt, generating type: Content.Type,
    includeSchemaInPrompt: Bool, options: GenerationOptions
  ) -> sending LanguageModelSession.ResponseStream<Content> where Content: Generable
}
extension LanguageModel where UnavailableReason == Never {
  public var availability: Availability<UnavailableReason> { .available }
}
extension LanguageModel {
  public func prewarm(for session: LanguageModelSession, promptPrefix: Prompt? = nil) {}
}

public struct Prompt: Sendable, CustomStringConvertible { public var description: String { "" } }
public protocol PromptRepresentable { var promptRepresentation: Prompt { get } }

public struct GenerationOptions: Sendable, Equatable, Codable {
  public struct SamplingMode: Sendable, Equatable, Codable {
    public static var greedy: SamplingMode { SamplingMode() }
  }
  public var sampling: SamplingMode?
  public var temperature: Double?
  public var maximumResponseTokens: Int?
}

public protocol ConvertibleFromGeneratedContent: SendableMetatype { init(_ content: GeneratedContent) throws }
public protocol ConvertibleToGeneratedContent: PromptRepresentable { var generatedContent: GeneratedContent { get } }
public protocol Generable: ConvertibleFromGeneratedContent, ConvertibleToGeneratedContent {
  associatedtype PartiallyGenerated: ConvertibleFromGeneratedContent = Self
  static var generationSchema: GenerationSchema { get }
}
extension Generable { public typealias PartiallyGenerated = Self }
extension String: Generable {
  public static var generationSchema: GenerationSchema { GenerationSchema() }
  public init(_ content: GeneratedContent) throws { self = "" }
  public var generatedContent: GeneratedContent { GeneratedContent(self) }
  public var promptRepresentation: Prompt { Prompt() }
}

public struct GenerationSchema: Equatable, Codable, Sendable {}
public struct GeneratedContent: Sendable, Equatable {
  public init(_ value: some ConvertibleToGeneratedContent) {}
  public init(json: String) throws {}
  public var jsonString: String { "" }
}

public protocol Tool<Arguments, Output>: Sendable {
  associatedtype Output: PromptRepresentable
  associatedtype Arguments: ConvertibleFromGeneratedContent
  var name: String { get }
  var description: String { get }
  var parameters: GenerationSchema { get }
  func call(arguments: Self.Arguments) async throws -> Self.Output
}

public final class LanguageModelSession: @unchecked Sendable {
  public var transcript: Transcript { Transcript() }
  public let tools: [any Tool] = []
  public init(model: any LanguageModel) {}

  public struct Response<Content>: Sendable where Content: Generable, Content: Sendable {
    public let content: Content
    public init(content: Content, rawContent: GeneratedContent, transcriptEntries: ArraySlice<Transcript.Entry>) {
      self.content = content
    }
  }
  public struct ResponseStream<Content>: Sendable where Content: Generable, Content.PartiallyGenerated: Sendable {
    public init(stream: AsyncThrowingStream<Snapshot, any Error>) {}
    public struct Snapshot: Sendable where Content.PartiallyGenerated: Sendable {
      public init(content: Content.PartiallyGenerated, rawContent: GeneratedContent) {}
    }
  }
  public struct ToolCallError: Error { public init(tool: any Tool, underlyingError: any Error) {} }
}

public struct Transcript: Sendable, RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { 0 }
  public subscript(index: Int) -> Entry { fatalError() }

  public enum Entry: Sendable {
    case instructions(Instructions), prompt(Prompt), toolCalls(ToolCalls), toolOutput(ToolOutput), response(Response)
  }
  public enum Segment: Sendable { case text(TextSegment), structure(StructuredSegment), image(ImageSegment) }
  public struct TextSegment: Sendable {
    public var content: String
    public init(id: String = "", content: String) { self.content = content }
  }
  public struct StructuredSegment: Sendable { public var content: GeneratedContent }
  public struct ImageSegment: Sendable {}
  public struct Instructions: Sendable { public var segments: [Segment] }
  public struct Prompt: Sendable { public var segments: [Segment] }
  public struct Response: Sendable { public var segments: [Segment] }
  public struct ToolCall: Sendable {
    public var id: String, toolName: String, arguments: GeneratedContent
    public init(id: String, toolName: String, arguments: GeneratedContent) {
      (self.id, self.toolName, self.arguments) = (id, toolName, arguments)
    }
  }
  public struct ToolCalls: Sendable, RandomAccessCollection {
    public init<S>(id: String = "", _ calls: S) where S: Sequence, S.Element == ToolCall {}
    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public subscript(position: Int) -> ToolCall { fatalError() }
  }
  public struct ToolOutput: Sendable {
    public var id: String, segments: [Segment]
    public init(id: String, toolName: String, segments: [Segment]) { (self.id, self.segments) = (id, segments) }
  }
}
