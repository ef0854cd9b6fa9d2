// HubTokenizer: the tokenizers of Hugging Face's swift-transformers behind PagodaKit's protocol, with the trait
// Transformers.
#if Transformers
public import Foundation
public import PagodaKit
internal import Tokenizers

/// A tokenizer of swift-transformers. It reads more kinds of `tokenizer.json` than ``Tokenizer``, and renders templates
/// with its own engine, without the budgets and the sandbox of Pagoda's: use it only for trusted models.
///
/// ```swift
/// let engine = try await Engine.load(.transformersHub("Qwen/Qwen3.5-0.8B"))
/// let tokenizer = try await HubTokenizer(hub: "Qwen/Qwen3.5-0.8B")
/// let answer = try await engine.respond(to: Request("Hello"), tokenizer: tokenizer)
/// ```
public final class HubTokenizer: ChatTokenizer {
  private let tokenizer: any Tokenizers.Tokenizer

  /// Reads `tokenizer.json`, `tokenizer_config.json` and the chat template of a folder.
  public init(folder: String) async throws {
    do {
      tokenizer = try await AutoTokenizer.from(modelFolder: URL(fileURLWithPath: folder))
    } catch {
      try Task.checkCancellation()
      throw PagodaError.badFile(
        "\(folder): swift-transformers cannot read its tokenizer: \(error.localizedDescription)")
    }
  }

  /// The same, with the folder as a URL.
  public convenience init(folder: URL) async throws { try await self.init(folder: folder.path) }

  /// Downloads the tokenizer of a model on the Hugging Face hub, such as `Qwen/Qwen3.5-0.8B`, or takes it from the
  /// cache.
  /// - Parameters:
  ///   - id: the model.
  ///   - revision: a branch, a tag or a commit.
  public convenience init(hub id: String, revision: String = "main") async throws {
    let files = ["tokenizer*", "config.json", "*.jinja", "vocab.json", "merges.txt", "special_tokens_map.json"]
    try await self.init(folder: HubSnapshot.fetch(id, revision: revision, matching: files))
  }

  /// Token ids of `text`; control tokens in the text are recognised, and none are added at the ends.
  public func encodeWithControlTokens(_ text: String) throws -> [Int32] {
    try narrow(tokenizer.encode(text: text, addSpecialTokens: false))
  }

  /// The text of token ids.
  public func decode(_ ids: [Int32], skippingSpecialTokens: Bool) throws -> String {
    tokenizer.decode(tokens: ids.map { Int($0) }, skipSpecialTokens: skippingSpecialTokens)
  }

  /// The id of a token by its spelling.
  public func id(of token: String) -> Int32? { tokenizer.convertTokenToId(token).flatMap { Int32(exactly: $0) } }

  /// Token ids of a conversation rendered by the model's chat template, ready for the answer.
  public func encode(
    _ messages: [PagodaKit.Message], tools: [ToolDefinition] = [], thinking: Bool? = nil
  ) throws -> [Int32] {
    let plain = messages.map { Self.members($0.json) }
    let specs = try tools.map { Self.members(try $0.json()) }
    let context: [String: any Sendable]? = thinking.map { ["enable_thinking": $0] }
    do {
      return try narrow(
        tokenizer.applyChatTemplate(
          messages: plain, chatTemplate: nil, addGenerationPrompt: true, truncation: false, maxLength: nil,
          tools: specs.isEmpty ? nil : specs, additionalContext: context))
    } catch let error as PagodaError {
      throw error
    } catch {
      throw PagodaError.unsupported("swift-transformers cannot render the chat template: \(error.localizedDescription)")
    }
  }

  /// Dictionaries have no order, so templates that print whole tool calls may print their members in a different order.
  private static func members(_ value: JSONValue) -> [String: any Sendable] {
    var members: [String: any Sendable] = [:]
    for member in value.objectValue ?? [] { members[member.key] = plain(member.value) }
    return members
  }

  private static func plain(_ value: JSONValue) -> any Sendable {
    switch value {
    case .null: String?.none  // swift-jinja refuses NSNull
    case .bool(let value): value
    case .integer(let value): Int(value)
    case .unsigned(let value): Double(value)
    case .number(let value): value
    case .string(let value): value
    case .array(let values): values.map { plain($0) }
    case .object: members(value)
    }
  }

  private func narrow(_ ids: [Int]) throws -> [Int32] {
    try ids.map { id in
      guard let narrow = Int32(exactly: id) else { throw PagodaError.badFile("\(id) is too large for a token id") }
      return narrow
    }
  }
}
#endif
