// AnswerSegment: what an answer consists of while it arrives. The events of the public API are made of it, and so are
// the formats of the server.
internal import Foundation

/// A part of an answer that is certain.
package enum AnswerSegment: Sendable {
  case text(String)
  case reasoning(String)
  case callBegin(index: Int, id: String, name: String)
  case callArguments(index: Int, String)  // more of their JSON text
  case callEnd(index: Int)
  case rejected(RejectedToolCall)
  /// A token comes before the text that it completes.
  case token(TokenInfo, isReasoning: Bool)
  case progress(PromptProgress)
  case trimmed(omittedMessages: Int)
  case finished(Completion, reasoningTokens: Int)
}

/// How an answer is read: what its text begins with, and the tools whose calls it may have.
package struct AnswerForm: Hashable, Sendable {
  package var opening: OutputParser.Opening
  package var tools: [JSONValue]  // in OpenAI's format

  package init(opening: OutputParser.Opening, tools: [JSONValue] = []) {
    self.opening = opening
    self.tools = tools
  }
}

/// Divides the tokens and the text of one answer into segments. Used by one thread at a time.
final class AnswerReader {
  private let parser: OutputParser
  private let tags: ThinkingTokens
  private var isReasoning: Bool
  private(set) var reasoningTokens = 0

  init(_ form: AnswerForm, _ tags: ThinkingTokens) throws {
    self.tags = tags
    isReasoning = form.opening == .reasoning
    parser = try OutputParser(form.opening, tools: form.tools.isEmpty ? "" : JSONValue.array(form.tools).text)
  }

  func read(_ token: TokenInfo) -> AnswerSegment {
    if token.id == tags.open { isReasoning = true }
    let wasReasoning = isReasoning
    if isReasoning { reasoningTokens += 1 }
    if token.id == tags.close { isReasoning = false }
    return .token(token, isReasoning: wasReasoning)
  }

  func read(_ text: String) -> [AnswerSegment] { parser.push(text).map(Self.segment) }

  func finish(wasCut: Bool) -> [AnswerSegment] { parser.finish(wasCut: wasCut).map(Self.segment) }

  private static func segment(_ segment: OutputSegment) -> AnswerSegment {
    switch segment {
    case .text(let text): .text(text)
    case .reasoning(let text): .reasoning(text)
    case .toolCallBegin(let index, let name): .callBegin(index: index, id: callID(), name: name)
    case .toolArguments(let index, let fragment): .callArguments(index: index, fragment)
    case .toolCallEnd(let index): .callEnd(index: index)
    case .rejectedToolCall(let call): .rejected(call)
    }
  }

  /// `call_` with 24 random characters, as OpenAI's ids are.
  private static func callID() -> String {
    "call_" + UUID().uuidString.replacing("-", with: "").lowercased().prefix(24)
  }
}

/// Makes events of segments: a tool call becomes one when it is complete. Used by one thread at a time.
final class EventMaker: @unchecked Sendable {
  private var call: ToolCall?  // whose arguments are arriving

  func event(of segment: AnswerSegment) -> Event? {
    switch segment {
    case .text(let text): return .text(text)
    case .reasoning(let text): return .reasoning(text)
    case .callBegin(_, let id, let name): call = ToolCall(id: id, name: name, arguments: "")
    case .callArguments(_, let text): call?.arguments += text
    case .callEnd:
      defer { call = nil }
      return call.map { .toolCall($0) }
    case .rejected(let rejected):
      if rejected.index != nil { call = nil }
      return .rejectedToolCall(rejected)
    case .token(let token, _): return .token(token)
    case .progress(let progress): return .promptProgress(progress)
    case .trimmed(let count): return .contextTrimmed(omittedMessages: count)
    case .finished(let completion, _): return .finished(completion)
    }
    return nil
  }
}

/// The tokens that enclose a model's thinking; nil if it has none.
package struct ThinkingTokens: Sendable {
  package let open: Int32?
  package let close: Int32?

  init(_ tokenizer: Tokenizer?) {
    func id(_ tag: String) -> Int32? {
      guard let ids = try? tokenizer?.encode(tag, parsingSpecialTokens: true), ids.count == 1 else { return nil }
      return ids[0]
    }
    (open, close) = (id("<think>"), id("</think>"))
  }
}
