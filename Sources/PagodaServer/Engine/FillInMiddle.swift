// FillInMiddle: prompts for the text between two texts, with the tokens that a model was trained on.
import PagodaKit

/// The control tokens that frame the text before and after a gap.
struct FillInMiddle: Sendable {
  private let prefix: Int32
  private let suffix: Int32
  private let middle: Int32
  /// Tokens that end the filled-in text, besides the model's own.
  let stopTokens: [Int32]

  /// The spellings of Qwen, CodeGemma and Granite, StarCoder, DeepSeek and CodeLlama.
  private static let families = [
    ["<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"], ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"],
    ["<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"], ["▁<PRE>", "▁<SUF>", "▁<MID>"],
  ]
  private static let ends = [
    "<|endoftext|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<|file_separator|>", "<fim_pad>",
    "<file_sep>", "▁<EOT>",
  ]

  /// Nil for a model without such tokens.
  init?(_ tokenizer: Tokenizer?) {
    guard let tokenizer else { return nil }
    let ids = Self.families.lazy.map { $0.compactMap { tokenizer.id(of: $0) } }.first { $0.count == 3 }
    guard let ids else { return nil }
    (prefix, suffix, middle) = (ids[0], ids[1], ids[2])
    stopTokens = Self.ends.compactMap { tokenizer.id(of: $0) } + ids
  }

  func encode(before: String, after: String, _ tokenizer: Tokenizer) throws -> [Int32] {
    tokenizer.startTokens + [prefix] + (try tokenizer.encode(before)) + [suffix] + (try tokenizer.encode(after))
      + [middle]
  }
}
