// OutputParser: splits the text of an answer while it arrives.
internal import CxxCore

/// Splits the text of an answer into reasoning, text and tool calls while it arrives. However the text is split into
/// chunks, the segments are the same, except for where runs of text, reasoning and arguments are divided.
///
/// Reads calls in the formats of Qwen's models, XML and JSON. Parameters are converted according to the tool's schema;
/// a value that cannot be converted stays a string. Markup never becomes text.
///
/// ```swift
/// let parser = try OutputParser(startsInReasoning: true)
/// print(parser.push("It is late.</think>Good"), parser.push(" night."), parser.finish())
/// ```
public final class OutputParser {
  /// How an answer starts.
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
  ///   - tools: the JSON array of tools, in the format of OpenAI's API; without tools, calls are text.
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
    guard let core else { throw PagodaError.outOfMemory("there is no memory to parse an answer") }
    self.core = core
  }

  /// Takes the next chunk of text and returns the segments that are now complete.
  public func push(_ text: String) -> [OutputSegment] { core.push(std.string(text)).segments.map { OutputSegment($0) } }

  /// The end of the answer: returns the text held back. If the answer was cut off, an incomplete call is rejected.
  public func finish(wasCut: Bool = false) -> [OutputSegment] {
    (wasCut ? core.finish_cut() : core.finish()).segments.map { OutputSegment($0) }
  }
}

extension OutputSegment {
  init(_ segment: pagoda.OutputSegment) {
    let text = String(segment.text)
    let index = Int(segment.tool_index)
    switch segment.kind {
    case .reasoning: self = .reasoning(text)
    case .tool_call_begin: self = .toolCallBegin(index: index, name: String(segment.tool_name))
    case .tool_arguments: self = .toolArguments(index: index, fragment: text)
    case .tool_call_end: self = .toolCallEnd(index: index)
    case .rejected_tool_call:
      let name = String(segment.tool_name)
      self = .rejectedToolCall(
        RejectedToolCall(
          markup: text, reason: String(segment.reason), name: name.isEmpty ? nil : name, index: index < 0 ? nil : index)
      )
    default: self = .text(text)
    }
  }
}
