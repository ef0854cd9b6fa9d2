// Markdown split into blocks, complete and streaming; and the exports.
import Foundation
import Testing

@testable import PagodaChatCore

@Suite struct TextTests {
  private static let sample = """
    # Title
    A paragraph
    of two lines.

    ```swift
    let a = 1

    # not a heading
    ```
    - one
      - deeper
      goes on
    - two

    1. first
    2) second
    > said
    > again
    | a | b |
    |---|:-:|
    | 1 | 2 | 3 |
    | 4 |
    ---
    last `code` line
    """

  @Test func blocks_are_distinguished() {
    #expect(
      MarkdownBlock.split(Self.sample) == [
        .heading(level: 1, text: "Title"),
        .paragraph("A paragraph\nof two lines."),
        .code(language: "swift", text: "let a = 1\n\n# not a heading", isClosed: true),
        .list([
          MarkdownItem(marker: "•", depth: 0, text: "one"),
          MarkdownItem(marker: "•", depth: 1, text: "deeper\ngoes on"),
          MarkdownItem(marker: "•", depth: 0, text: "two"), MarkdownItem(marker: "1.", depth: 0, text: "first"),
          MarkdownItem(marker: "2.", depth: 0, text: "second"),
        ]),
        .quote("said\nagain"),
        .table(header: ["a", "b"], rows: [["1", "2"], ["4", ""]]),
        .rule,
        .paragraph("last `code` line"),
      ])
  }

  @Test func a_growing_text_never_changes_the_blocks_before_the_last_two() {
    let whole = Array(Self.sample)
    var before: [MarkdownBlock] = []
    for end in 0...whole.count {
      let blocks = MarkdownBlock.split(String(whole[..<end]))
      #expect(blocks.count >= before.count - 1)
      #expect(
        Array(blocks.prefix(max(0, before.count - 2))) == Array(before.prefix(max(0, before.count - 2))), "\(end)")
      before = blocks
    }
  }

  @Test func code_is_code_while_its_end_has_not_come() {
    #expect(MarkdownBlock.split("```py\nx = 1") == [.code(language: "py", text: "x = 1", isClosed: false)])
    #expect(MarkdownBlock.split("````\n```\n````") == [.code(language: nil, text: "```", isClosed: true)])
    #expect(MarkdownBlock.split("  ~~~\n  x\n ~~~") == [.code(language: nil, text: "x", isClosed: true)])
    #expect(MarkdownBlock.split("```a`b") == [.paragraph("```a`b")])
    #expect(MarkdownBlock.split("").isEmpty && MarkdownBlock.split("\n \n").isEmpty)
    #expect(MarkdownBlock.split("#no\n-no\n12.no") == [.paragraph("#no\n-no\n12.no")])
  }

  /// Every way of splitting a text into chunks gives the same blocks, also within a line break of two characters.
  @Test func chunks_give_the_same_blocks_as_the_whole() {
    let texts = [
      Self.sample, Self.sample.replacingOccurrences(of: "\n", with: "\r\n"), "a\rb\r\n\r\n- c\r",
      "a | b\n--|--\n1 | 2\nend", "so\n$$\nx\n\\frac{1}{2}\n$$ is\n\\[y\\]\n$$z$$ and\n$$ open\n\n- a\n$$\nend",
    ]
    for text in texts {
      for size in [1, 2, 3, 7] {
        var stream = MarkdownStream()
        var rest = text.unicodeScalars[...]
        while !rest.isEmpty {
          stream.append(String(String.UnicodeScalarView(rest.prefix(size))))
          rest = rest.dropFirst(size)
          #expect(stream.blocks == MarkdownBlock.split(stream.text))
        }
        #expect(stream.blocks == MarkdownBlock.split(text))
      }
    }
  }

  // MARK: The cost of a growing answer

  /// Chunks of an answer by index: of many kinds of blocks, or of one block as long as the answer.
  private static let shapes: [String: @Sendable (Int) -> String] = [
    "mixed": { $0 % 400 == 0 ? "\n```swift\n" : $0 % 400 == 200 ? "\n```\n" : $0 % 20 == 0 ? "\n" : " word" },
    "one line": { _ in " word" },
    "one word": { _ in "words" },
    "one code block": { $0 == 0 ? "```c\n" : $0 % 10 == 0 ? "\n" : " code" },
    "one list": { $0 % 5 == 0 ? "\n- item" : " word" },
    "one item": { $0 == 0 ? "- item" : $0 % 20 == 0 ? "\n  " : " word" },
    "one quote": { $0 % 10 == 0 ? "\n> " : " word" },
    "one table": { $0 == 0 ? "| a | b |\n|---|---|\n" : $0 % 10 == 0 ? "|\n|" : " word" },
    "one paragraph": { $0 % 10 == 0 ? "\n" : " word" },
    "one formula": { $0 == 0 ? "$$" : $0 % 10 == 0 ? "\n" : " word" },
    "headings": { $0 % 3 == 0 ? "\n# " : " word" },
  ]

  /// The work is proportional to the length of the answer: 10,000 tokens, read after each token as a view does, which
  /// keeps the previous result until it has the next one.
  @Test(arguments: Self.shapes.keys.sorted()) @MainActor
  func a_streamed_answer_costs_as_much_as_its_length(shape: String) throws {
    let chunk = try #require(Self.shapes[shape])
    func cost(tokens: Int) -> (bytes: Int, blocks: Int) {
      let cache = MarkdownCache()
      var message = ChatMessage(conversationID: UUID(), parentID: nil, role: .assistant, text: "", state: .streaming)
      cache.begin(message.id)
      var shown: MarkdownBlocks?
      for index in 0..<tokens {
        message.text += chunk(index)
        cache.append(chunk(index))
        shown = cache.blocks(of: message)
      }
      withExtendedLifetime(shown) {}
      return (cache.examinedCharacters, cache.copiedBlocks)
    }
    let tokens = shape == "mixed" ? 10_000 : 4_000  // the others show the same in less time
    let (half, whole) = (cost(tokens: tokens / 2), cost(tokens: tokens))
    #expect(whole.bytes < half.bytes * 22 / 10, "\(half) \(whole)")
    #expect(whole.blocks < half.blocks * 22 / 10, "\(half) \(whole)")
    #expect(whole.bytes < 3 * MarkdownCache.chunkBytes * tokens && whole.blocks < 3 * tokens, "\(whole)")
  }

  /// While it grows, a long block is shown in segments that lose nothing; afterwards it is whole.
  @Test(arguments: Self.shapes.keys.sorted()) @MainActor
  func chunks_of_a_long_block_contain_all_of_it(shape: String) throws {
    let chunk = try #require(Self.shapes[shape])
    let cache = MarkdownCache()
    var message = ChatMessage(conversationID: UUID(), parentID: nil, role: .assistant, text: "", state: .streaming)
    cache.begin(message.id)
    for index in 0..<3_000 {
      message.text += chunk(index)
      cache.append(chunk(index))
    }
    let shown = cache.blocks(of: message)
    cache.end()
    let whole = Array(cache.blocks(of: message))
    #expect(whole == MarkdownBlock.split(message.text))
    #expect(Self.words(Array(shown)) == Self.words(whole))
    if shape.hasPrefix("one") {
      #expect(whole.count == 1 && shown.count > 1)
      let mayBeContinued = ["one code block", "one list", "one table"].contains(shape)
      #expect(shown.indices.dropFirst().allSatisfy { shown.isContinuation(at: $0) == mayBeContinued })
      #expect(shown.settled.indices.allSatisfy { shown.settled.isContinued(at: $0) == (shape == "one code block") })
    }
    #expect(!shown.isContinuation(at: 0) && !shown.isContinued(at: shown.count - 1))
  }

  /// The text of blocks, without separators.
  private static func words(_ blocks: [MarkdownBlock]) -> String {
    let texts = blocks.map { block in
      switch block {
      case .paragraph(let text), .heading(_, let text), .code(_, let text, _), .quote(let text): text
      case .list(let items): items.map(\.text).joined()
      case .table(let header, let rows): (header + rows.joined()).joined()
      case .formula(let tex, _): tex
      case .rule: ""
      }
    }
    return texts.joined().filter { !$0.isWhitespace }
  }

  @Test func exports_contain_the_conversation() throws {
    var conversation = Conversation(title: "A/B: chat?")
    conversation.settings.instructions = "Be brief.\nBe kind."
    let question = ChatMessage(conversationID: conversation.id, parentID: nil, role: .user, text: "Hello ")
    var answer = ChatMessage(
      conversationID: conversation.id, parentID: question.id, role: .assistant, text: "Hi", reasoning: "greet",
      state: .stopped, modelName: "mini")
    answer.stats = TokenStats()
    var tree = MessageTree()
    tree.put(question)
    tree.put(answer)
    tree.put(ChatMessage(conversationID: conversation.id, parentID: question.id, role: .assistant, text: "hidden"))
    conversation.leafID = answer.id
    let markdown = try ConversationExport.markdown.text(of: conversation, tree)
    #expect(
      markdown == """
        # A/B: chat?

        > Be brief.
        > Be kind.

        ## You

        Hello

        ## mini

        <details><summary>Thinking</summary>

        greet

        </details>

        Hi

        *Stopped.*

        """)
    let json = try ConversationExport.json.text(of: conversation, tree)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(object["format"] as? String == "pagoda-conversation")
    #expect((object["messages"] as? [Any])?.count == 3)
    #expect(ConversationExport.markdown.fileName(of: conversation) == "A B chat.md")
    #expect(ConversationExport.json.fileName(of: Conversation()) == "Chat.json")
  }
}
