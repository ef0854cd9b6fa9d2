// Headings, lists, quotations, rules, and bold, italic and code within a line, as a terminal shows them.
import PagodaCLI
import Testing

@Suite struct MarkTests {
  /// Styles as letters: `[b:bold]`, `[i:italic]`, `[c:code]`, `[h:underlined heading]`, `[d:dim]`.
  private func rendered(_ text: String, width: Int = 60, chunk: Int = .max) -> String {
    var markdown = MarkdownText(width: width)
    var (out, rest) = ("", Substring(text))
    while !rest.isEmpty {
      out += markdown.add(String(rest.prefix(chunk)))
      rest = rest.dropFirst(chunk)
    }
    out += markdown.finish()
    return [("1;4", "h"), ("1", "b"), ("2", "d"), ("3", "i"), ("36", "c")].reduce(out) {
      $0.replacing("\u{1B}[\($1.0)m", with: "[\($1.1):")
    }.replacing(/\u{1B}\[(22;24|22|23|39)m/, with: "]")
  }

  static let lines = [
    ("# A *new* **title**", "[h:A [i:new] title]"), ("### Third\nText", "[b:Third]\nText"),
    ("#5 is open", "#5 is open"),
    ("- one\n* two\n  + three", "• one\n• two\n  • three"),
    ("10. ten\n2) two\n-5 degrees", "10. ten\n2) two\n-5 degrees"),
    ("> said\n>\n> again", "│ said\n│\n│ again"), ("a\n---\nb\n***", "a\n[d:────────]\nb\n[d:────────]"),
    ("**bold** and *it* and _it_", "[b:bold] and [i:it] and [i:it]"), ("***both***", "[b:[i:both]]"),
    ("**bold *inner* `a*b`** end", "[b:bold [i:inner] [c:a*b]] end"), ("`` a ` b ``", "[c:a ` b]"),
    ("\\*no\\* and C:\\temp", "*no* and C:\\temp"), ("这是**粗体**文字, **token**s", "这是[b:粗体]文字, [b:token]s"),
    ("42.", "42."), ("2024 was", "2024 was"),
  ]

  @Test(arguments: lines) func marks_become_styles(_ row: (text: String, shown: String)) {
    for size in [.max, 1, 2, 3] {
      #expect(
        rendered(row.text, width: row.text.contains("---") ? 8 : 60, chunk: size) == row.shown, "chunks of \(size)")
    }
  }

  @Test(arguments: [
    "2 * 3 * 4 and 2**3 and 3**2", "x_1 + y_2, snake_case_name, __init__, __main__ too", "$x^*$ and $y^*$", "**no end",
    "f(*a, *b) and *args and **kwargs", "a ` b", "* * no *", "[a](https://b.c/d_e_f)",
  ])
  func text_that_only_looks_like_marks_is_not_changed(_ text: String) {
    let expected = text.hasPrefix("* ") ? "•" + text.dropFirst() : text
    for size in [.max, 1] { #expect(rendered(text, chunk: size) == expected) }
  }

  @Test func further_lines_of_an_item_or_a_quotation_begin_below_its_text() {
    #expect(
      rendered("1. one two three\n> four five six\nend", width: 10) == "1. one two\n   three\n│ four\n│ five six\nend")
    #expect(rendered("- **one two three** four", width: 10) == "• [b:one two\n  three]\n  four")
  }

  @Test func text_before_a_mark_and_after_a_span_does_not_wait() {
    var markdown = MarkdownText(width: 200)
    #expect(markdown.add("one two **three") == "one two")
    #expect(markdown.add(" four** ").contains("four"))
    let long = String(repeating: "word ", count: 80)
    #expect(markdown.add("**" + long).contains("**word word"), "a span without an end is not held back for ever")
  }

  @Test func cells_of_tables_have_no_marks() {
    #expect(rendered("| **A** | `b` |\n|---|---|\n| *x* | 2 * 3 |\n").contains(" x  [d: │ ]2 * 3"))
  }
}
