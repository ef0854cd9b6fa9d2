// The part of swift-transformers' Tokenizers that HubTokenizer uses, for type checking where it cannot be fetched (1.x).
import Foundation

/// A message of a conversation.
public typealias Message = [String: any Sendable]
/// A tool in OpenAI's shape.
public typealias ToolSpec = [String: any Sendable]

/// Which template to use.
public enum ChatTemplateArgument: Sendable {
  case literal(String)
  case name(String)
}

/// Common to every tokenizer.
public protocol Tokenizer: Sendable {
  func encode(text: String, addSpecialTokens: Bool) -> [Int]
  func decode(tokens: [Int], skipSpecialTokens: Bool) -> String
  func convertTokenToId(_ token: String) -> Int?
  func applyChatTemplate(
    messages: [Message], chatTemplate: ChatTemplateArgument?, addGenerationPrompt: Bool, truncation: Bool,
    maxLength: Int?, tools: [ToolSpec]?, additionalContext: [String: any Sendable]?
  ) throws -> [Int]
}

/// Finds the tokenizer of a folder.
public enum AutoTokenizer {
  /// Loads the tokenizer of a model on the hub.
  public static func from(pretrained model: String, strict: Bool = true) async throws -> any Tokenizer {
    throw CocoaError(.fileReadUnknown)
  }

  /// Reads the tokenizer of a folder.
  public static func from(modelFolder: URL, strict: Bool = true) async throws -> any Tokenizer {
    throw CocoaError(.fileReadUnknown)
  }
}
