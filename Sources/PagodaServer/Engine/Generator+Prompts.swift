// Prompts of a generation as tokens, with all that their answers depend on.
import PagodaKit

extension Generator {
  func prepare(_ prompt: Generation.Prompt, of generation: Generation) throws -> PreparedPrompt {
    var omitted = 0
    let encoded =
      switch prompt {
      case .chat(let chat): try encode(chat, of: generation, omitted: &omitted)
      case .text(let text): try engine.encode(.text(text), thinking: nil)
      case .tokens(let ids): try engine.encode(.tokens(ids), thinking: nil)
      case .middle(let prefix, let suffix): try encode(before: prefix, after: suffix)
      }
    var prepared = PreparedPrompt(ids: encoded.ids, opening: encoded.opening, tools: generation.tools)
    prepared.omittedMessages = omitted
    prepared.hasThinkingTags = encoded.hasThinkingTags
    prepared.images = encoded.images
    prepared.callGrammar = generation.callGrammar(prompt: encoded.text)
    if let continued = generation.continued {
      prepared.opening = .textOnly
      prepared.ids += try encode(continued, opening: encoded.opening)
    }
    prepared.clampedTokens = try checkLength(prepared.ids.count, generation)
    return prepared
  }

  private func encode(before prefix: String, after suffix: String) throws -> EncodedPrompt {
    guard let fillInMiddle, let tokenizer = engine.tokenizer else {
      throw APIError.invalid(
        "suffix needs a model with fill-in-the-middle tokens such as <|fim_prefix|>, and this one has none",
        param: "suffix")
    }
    let ids = try fillInMiddle.encode(before: prefix, after: suffix, tokenizer)
    var encoded = try engine.encode(.tokens(ids), thinking: nil)
    encoded.hasThinkingTags = false
    return encoded
  }

  /// The part of the answer supplied by the client. If the template has opened the thinking, it is closed.
  private func encode(_ continued: Continued, opening: OutputParser.Opening) throws -> [Int32] {
    guard let tokenizer = engine.tokenizer else { return [] }
    var ids: [Int32] = []
    if opening == .reasoning {
      ids += try tokenizer.encode(continued.reasoning, parsingSpecialTokens: false)
      ids += try tokenizer.encode("\n</think>\n\n", parsingSpecialTokens: true)
    }
    return ids + (try tokenizer.encode(continued.text, parsingSpecialTokens: false))
  }

  /// Returns the limit that fits if the given one does not.
  private func checkLength(_ count: Int, _ generation: Generation) throws -> Int? {
    let context = engine.info.plan.maximumModelLength
    let part = generation.promptField
    if count == 0 { throw APIError.invalid("the prompt is empty", param: part) }
    if count >= context { throw tooLong(count, part) }
    guard let wanted = generation.request.sampling.maximumTokens else {
      return generation.defaultTokensWithLogprobs.flatMap { count + $0 < context ? $0 : nil }
    }
    return count + wanted > context ? context - count : nil
  }
}

/// A prompt ready for the engine, and how its answers are read.
struct PreparedPrompt: Sendable {
  var ids: [Int32]
  var opening: OutputParser.Opening
  var tools: [JSONValue]
  var callGrammar: String?
  var clampedTokens: Int?  // the maximum that fits, if more were requested
  var hasThinkingTags = true  // see EncodedPrompt
  var images: [PlacedImage] = []
  var omittedMessages = 0  // left out at the start of the conversation, see ContextPolicy
}
