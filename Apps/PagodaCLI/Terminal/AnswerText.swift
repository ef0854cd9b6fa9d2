// AnswerText: a model's answer for standard output: rendered for a terminal, unchanged for a pipe.

/// Text that arrives in chunks. Markdown is rendered where colours are wanted (Style.isColoured); other terminals get the
/// text wrapped at words.
struct AnswerText {
  private var wrap = WordWrap(width: Style.textWidth ?? 0)
  private var markdown: MarkdownText? =
    Style.isColoured ? Style.textWidth.map { MarkdownText(width: $0) } : nil
  private var note = ""  // on the current line, instead of a table that is held back

  mutating func write(_ text: String) {
    guard markdown != nil else { return Terminal.writeAnswer(wrap.add(text)) }
    show(markdown?.add(Terminal.printable(text)) ?? "")
  }

  mutating func finish() {
    guard markdown != nil else { return Terminal.writeAnswer(wrap.finish()) }
    show(markdown?.finish() ?? "")
  }

  /// Nothing else is on the line of a note: a table begins a line.
  private mutating func show(_ text: String) {
    let next = markdown?.heldRows.map { "table, \($0) \($0 == 1 ? "row" : "rows")" } ?? ""
    if text.isEmpty && next == note { return }
    let erasing = note.isEmpty ? "" : "\r\u{1B}[K"
    note = next
    Terminal.write(erasing + text + (next.isEmpty ? "" : Style.dim(next)))
  }
}
