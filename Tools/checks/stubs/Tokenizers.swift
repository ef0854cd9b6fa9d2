// The part of swift-transformers' Tokenizers that HubTokenizer uses, where it cannot be fetched (1.x). A template's values are
// converted by swift-jinja's rules.
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
    if try modelFolder.checkResourceIsReachable() { return StubTokenizer() }
    throw CocoaError(.fileReadUnknown)
  }
}

/// Each id counts the nulls of the template's values.
struct StubTokenizer: Tokenizer {
  func encode(text: String, addSpecialTokens: Bool) -> [Int] { [] }
  func decode(tokens: [Int], skipSpecialTokens: Bool) -> String { "" }
  func convertTokenToId(_ token: String) -> Int? { nil }
  func applyChatTemplate(
    messages: [Message], chatTemplate: ChatTemplateArgument?, addGenerationPrompt: Bool, truncation: Bool,
    maxLength: Int?, tools: [ToolSpec]?, additionalContext: [String: any Sendable]?
  ) throws -> [Int] { [try nulls(messages), try nulls(tools)] }
}

/// The number of nulls; throws for a value of a type that templates do not have.
private func nulls(_ value: Any?) throws -> Int {
  switch value {
  case nil: 1
  case is String, is Int, is Double, is Bool: 0
  case let values as [Any?]: try values.reduce(0) { $0 + (try nulls($1)) }
  case let members as [String: Any?]: try members.values.reduce(0) { $0 + (try nulls($1)) }
  default: throw CocoaError(.coderInvalidValue)
  }
}
