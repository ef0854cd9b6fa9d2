// Markdown in the terminal: tables in columns, code in colours, and the same result however the text arrives.
import Foundation
import PagodaCLI
import PagodaKit
import Testing

@Suite struct MarkdownTests {
  private func rendered(_ text: String, width: Int, chunk: Int = .max) -> String {
    var markdown = MarkdownText(width: width)
    var (out, rest) = ("", Substring(text))
    while !rest.isEmpty {
      out += markdown.add(String(rest.prefix(chunk)))
      rest = rest.dropFirst(chunk)
    }
    return out + markdown.finish()
  }

  private func plain(_ text: String) -> String { text.replacing(/\u{1B}\[[0-9;]*m/, with: "") }

  private let answer = """
    Two cities:

    | City | People | Note |
    |:-----|-------:|:----:|
    | Oslo | 709,000 | a \\| b |
    | 東京 | 14,000,000 |

    ```python
    def area(r):  # of a circle
        return 3.14 * r ** 2
    ```
    Done, and that is all of it.
    """

  @Test func a_table_has_aligned_columns() {
    let lines = plain(rendered(answer, width: 60)).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(
      lines[0...6] == [
        "Two cities:", "",
        " City │     People │ Note ",
        "──────┼────────────┼───────",
        " Oslo │    709,000 │ a | b",
        " 東京 │ 14,000,000 │      ", "",
      ])
  }

  @Test func the_result_does_not_depend_on_the_chunks() {
    let expected = plain(rendered(answer, width: 30))
    for size in 1...40 { #expect(plain(rendered(answer, width: 30, chunk: size)) == expected, "chunks of \(size)") }
    let last = plain(rendered("| a | b |\n|---|---|\n| 1 | 2 |", width: 30))
    #expect(last.hasSuffix("\n 1   │ 2  "), "\(last.debugDescription)")
  }

  @Test(arguments: 14...120)
  func a_wide_table_is_wrapped_into_the_width(_ width: Int) {
    let table = """
      | Name | What it does | Where |
      |---|---|---|
      | prefix cache | keeps the keys and values of prompts that begin alike | memory and disk |
      | speculation | drafts tokens and checks several of them at once | every device with room for it |
      """
    let lines = plain(rendered(table, width: width)).split(separator: "\n")
    let words = lines.flatMap { $0.split { " │─┼".contains($0) } }.joined()
    #expect(lines.allSatisfy { columnWidth(of: $0) <= width }, "\(lines.joined(separator: "\n"))")
    for word in ["prefix", "begin", "speculation", "device"] where width >= 50 { #expect(words.contains(word)) }
    #expect(lines.count >= 4)
  }

  @Test func a_table_too_narrow_to_draw_stays_as_written() {
    let table = "| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n"
    #expect(rendered(table, width: 16) == table && rendered(table, width: 17) != table)
  }

  @Test func rows_are_held_until_the_table_ends() {
    var markdown = MarkdownText(width: 60)
    #expect(markdown.add("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |") == "" && markdown.heldRows == 2)
    #expect(plain(markdown.add(" 4 |\n\n")).hasSuffix(" 3   │ 4  \n\n") && markdown.heldRows == nil)
    var other = MarkdownText(width: 60)
    #expect(other.add("| no table\n") == "" && other.heldRows == nil)
    #expect(other.add("| x") == "| no table\n|" && other.add(" y") + other.finish() == " x y")
  }

  @Test(arguments: [
    "a | b\nc | d\n", "|x\n", "||\n\n", "``` is a mark ```\n", "`` a\n", "~ b\n", "| a |\n| b |\n| c |", "a\n|-|",
    "\n x",
  ])
  func other_text_is_not_changed(_ text: String) {
    #expect(rendered(text, width: 60) == text)
    #expect(rendered(text, width: 60, chunk: 1) == text)
  }

  /// Each visible character of the code with its colour, such as `l35`.
  private func colours(_ code: String, _ language: String, chunk: Int = .max) -> [String] {
    let text = rendered("```\(language)\n\(code)\n```", width: 80, chunk: chunk)
    let body = text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().dropLast()
    return marks(
      body.joined(separator: "\n").replacing("\u{1B}[39m", with: "»").replacing(/\u{1B}\[([0-9]+)m/) { "«\($0.1):" })
  }

  private func marks(_ text: String) -> [String] {
    var (out, colour, rest) = ([String](), "", Substring(text))
    while let character = rest.popFirst() {
      if character == "«" {
        colour = String(rest.prefix { $0 != ":" })
        rest = rest.dropFirst(colour.count + 1)
      } else if character == "»" {
        colour = ""
      } else if !character.isWhitespace {
        out.append("\(character)\(colour)")
      }
    }
    return out
  }

  @Test(arguments: [
    ("swift", "let x = 1 // one", "«35:let» x = «33:1» «90:// one»"),
    ("py", "s = \"\"\"a\nb\"\"\" # c", "s = «32:\"\"\"a\nb\"\"\"» «90:# c»"),
    ("js", "const a = 'it\\'s' /* b\nc */", "«35:const» a = «32:'it\\'s'» «90:/* b\nc */»"),
    ("sh", "echo \"$#\" # say", "«35:echo» «32:\"$#\"» «90:# say»"),
    ("SQL", "SELECT 1 -- all", "«35:SELECT» «33:1» «90:-- all»"),
    ("diff", "+a\n-b\n c", "«32:+a»\n«31:-b»\n c"),
    ("rust", "fn f<'a>(x: &'a str)", "«35:fn» f<'a>(x: &'a str)"),
    ("", "let x = 1", "let x = 1"), ("nonsense", "let x = 1", "let x = 1"),
  ])
  func code_is_coloured(_ row: (language: String, code: String, expected: String)) {
    for size in [.max, 1, 2, 3, 5] {
      #expect(colours(row.code, row.language, chunk: size) == marks(row.expected), "chunks of \(size)")
    }
  }

  @Test func no_character_is_lost() {
    var random = Generator(state: UInt64.random(in: 0...UInt64.max))
    let seed = random.state
    let parts = [
      "let ", "\"", "'", "\\", "/*", "*/", "//", "#", "\n", "a1", "0x1F ", "-", "`", "é", "\"\"\"", " ", "東", "<!--",
      "-->",
      "@@", "+",
    ]
    for language in ["swift", "python", "js", "sh", "json", "sql", "html", "diff", "rust", ""] {
      for _ in 0..<50 {
        let code = (0..<20).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
        var colours = CodeColours(language: language)
        var out = ""
        for character in code { out += colours.add(String(character)) }
        #expect(plain(out + colours.finish()) == code, "seed \(seed), \(language): \(code.debugDescription)")
      }
    }
  }

  /// A seed gives the same texts again.
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 32)
    }
  }
}
