// Answers are parsed as in the core; the core's own tests split them at every byte.
import PagodaKit
import Testing

@Suite struct OutputParserTests {
  private let tools =
    #"[{"type": "function", "function": {"name": "add", "parameters": {"properties": {"a": {"type": "integer"}}}}}]"#

  @Test func reasoning_text_and_calls_come_apart() throws {
    let parser = try OutputParser(startsInReasoning: true, tools: tools)
    let answer =
      "sum\n</think>\n\nHere:\n<tool_call>\n<function=add>\n<parameter=a>\n5\n</parameter>\n</function>\n</tool_call>"
    let segments = parser.push(answer) + parser.finish()
    #expect(
      segments == [
        .reasoning("sum"), .text("Here:"), .toolCallBegin(index: 0, name: "add"),
        .toolArguments(index: 0, fragment: #"{"a":5}"#), .toolCallEnd(index: 0),
      ])
  }

  @Test func an_unknown_tool_is_rejected_with_its_markup() throws {
    let parser = try OutputParser(tools: tools)
    let markup = "<tool_call>\n<function=rm>\n</function>"
    #expect(
      parser.push(markup + "\n</tool_call>") + parser.finish() == [
        .rejectedToolCall(RejectedToolCall(markup: markup, reason: "there is no such tool", name: "rm"))
      ])
  }

  @Test func tools_that_are_no_list_are_refused() {
    #expect(throws: PagodaError.self) { try OutputParser(tools: "{}") }
  }

  @Test func the_end_of_the_prompt_decides() {
    #expect(OutputParser.Opening(prompt: "<|im_start|>assistant\n<think>\n") == .reasoning)
    #expect(OutputParser.Opening(prompt: "<|im_start|>assistant\n<think>\n\n</think>\n\n") == .answer)
    #expect(OutputParser.Opening(prompt: "<|im_start|>assistant\n") == .answer)
  }
}
