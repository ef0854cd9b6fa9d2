// OutputParser: the text of an answer taken apart while it arrives.
internal import CxxCore

/// Splits the text of an answer into reasoning, text and tool calls while it arrives. However the text is cut, the pieces
/// are the same but for where runs of text, reasoning and arguments are cut.
///
/// Calls are understood as Qwen's models write them, in XML or in JSON. A parameter becomes what the tool's schema says;
/// a value that does not convert stays a string. Markup never becomes text.
public final class OutputParser {
  /// How an answer begins.
  package enum Opening: Sendable {
    case textOnly  // prompts without a chat template: tags are text
    case answer  // reasoning only if the answer itself opens it
    case reasoning  // the prompt ended with an open tag

    package init(prompt: String) {
      let end = prompt.reversed().drop { $0.isNewline }
      self = end.starts(with: "<think>".reversed()) ? .reasoning : .answer
    }
  }

  private let core: pagoda.OutputParser

  /// A parser for one answer.
  /// - Parameters:
  ///   - startsInReasoning: whether the prompt ended inside open thinking.
  ///   - tools: the JSON array of tools, as OpenAI's API has it; without tools, calls are text.
  public convenience init(startsInReasoning: Bool = false, tools: String = "") throws {
    try self.init(startsInReasoning ? .reasoning : .answer, tools: tools)
  }

  package init(_ opening: Opening, tools: String = "") throws {
    var options = pagoda.OutputParserOptions()
    options.splits_reasoning = opening != .textOnly
    options.starts_in_reasoning = opening == .reasoning
    options.tools_json = std.string(tools)
    var status = pagoda.Status()
    let core = pagoda.make_output_parser(options, &status)
    try status.throwIfError()
    guard let core else { throw PagodaError.outOfMemory("there is no memory to read an answer") }
    self.core = core
  }

  /// Takes the next chunk of text and returns the pieces that are certain now.
  public func push(_ text: String) -> [OutputPiece] { core.push(std.string(text)).pieces.map { OutputPiece($0) } }

  /// The end of the answer: what was held back. In an answer that was cut, a call that is not whole is rejected.
  public func finish(wasCut: Bool = false) -> [OutputPiece] {
    (wasCut ? core.finish_cut() : core.finish()).pieces.map { OutputPiece($0) }
  }
}

extension OutputPiece {
  init(_ piece: pagoda.OutputPiece) {
    let text = String(piece.text)
    let index = Int(piece.tool_index)
    switch piece.kind {
    case .reasoning: self = .reasoning(text)
    case .tool_call_begin: self = .toolCallBegin(index: index, name: String(piece.tool_name))
    case .tool_arguments: self = .toolArguments(index: index, fragment: text)
    case .tool_call_end: self = .toolCallEnd(index: index)
    case .rejected_tool_call:
      let name = String(piece.tool_name)
      self = .rejectedToolCall(
        RejectedToolCall(
          markup: text, reason: String(piece.reason), name: name.isEmpty ? nil : name, index: index < 0 ? nil : index))
    default: self = .text(text)
    }
  }
}
