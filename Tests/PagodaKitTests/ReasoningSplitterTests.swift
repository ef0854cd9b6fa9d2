// Reasoning is told from text wherever the stream is cut.
import PagodaKit
import Testing

@Suite struct ReasoningSplitterTests {
  private func split(_ pieces: [String], _ opening: ReasoningSplitter.Opening) -> (reasoning: String, text: String) {
    var splitter = ReasoningSplitter(opening)
    var (reasoning, text) = ("", "")
    for event in pieces.flatMap({ splitter.push($0) }) + splitter.finish() {
      switch event {
      case .reasoning(let piece): reasoning += piece
      case .text(let piece): text += piece
      case .token, .finished: Issue.record("a splitter makes text only")
      }
    }
    return (reasoning, text)
  }

  @Test(arguments: [
    (ReasoningSplitter.Opening.reasoning, "12+30\nis 42\n</think>\n\nThe sum is 42.", "12+30\nis 42", "The sum is 42."),
    (.reasoning, "a < b </thin </think>x", "a < b </thin ", "x"),
    (.reasoning, "never closed\n</thi", "never closed\n</thi", ""),
    (.reasoning, "</think>\n\nat once", "", "at once"),
    (.answer, "<think>\nhm\n</think>\n\nyes", "hm", "yes"),
    (.answer, "plain <think> text", "", "plain <think> text"),
    (.answer, "  <thin", "", "  <thin"),
    (.textOnly, "<think>\nx</think>", "", "<think>\nx</think>"),
  ])
  func any_cut_gives_the_same(
    _ opening: ReasoningSplitter.Opening, _ stream: String, _ reasoning: String, _ text: String
  ) {
    for first in stream.indices {
      for second in stream[first...].indices {
        let pieces = [stream[..<first], stream[first..<second], stream[second...]].map { String($0) }
        let result = split(pieces, opening)
        #expect(result.reasoning == reasoning && result.text == text, "\(pieces)")
      }
    }
    let single = split(stream.map { String($0) }, opening)
    #expect(single.reasoning == reasoning && single.text == text)
  }

  @Test func the_end_of_the_prompt_decides() {
    #expect(ReasoningSplitter.Opening(prompt: "<|im_start|>assistant\n<think>\n") == .reasoning)
    #expect(ReasoningSplitter.Opening(prompt: "<|im_start|>assistant\n<think>\n\n</think>\n\n") == .answer)
    #expect(ReasoningSplitter.Opening(prompt: "<|im_start|>assistant\n") == .answer)
  }
}
