// The part of swift-transformers' Tokenizers that HubTokenizer uses, for type checking where it cannot be fetched (1.x).
import Foundation

public typealias Message = [String: any Sendable]
public typealias ToolSpec = [String: any Sendable]

public enum ChatTemplateArgument: Sendable {
  case literal(String)
  case name(String)
}

public protocol Tokenizer: Sendable {
  func encode(text: String, addSpecialTokens: Bool) -> [Int]
  func decode(tokens: [Int], skipSpecialTokens: Bool) -> String
  func convertTokenToId(_ token: String) -> Int?
  func applyChatTemplate(
    messages: [Message], chatTemplate: ChatTemplateArgument?, addGenerationPrompt: Bool, truncation: Bool,
    maxLength: Int?, tools: [ToolSpec]?, additionalContext: [String: any Sendable]?
  ) throws -> [Int]
}

public enum AutoTokenizer {
  public static func from(modelFolder: URL, strict: Bool = true) async throws -> any Tokenizer {
    throw CocoaError(.fileReadUnknown)
  }
}
