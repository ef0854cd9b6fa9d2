// Markdown as views, one per block; the system's parser handles inline emphasis, links and code.
import Foundation
import PagodaChatCore
import SwiftUI

struct MarkdownView: View {
  let blocks: MarkdownBlocks

  var body: some View {
    VStack(alignment: .leading, spacing: 0) {
      // The same value from token to token, so that it is not drawn again.
      BlocksView(blocks: blocks.settled, range: 0..<blocks.settledCount)
      BlocksView(blocks: blocks, range: blocks.settledCount..<blocks.count)
    }
    .textSelection(.enabled)
  }
}

private struct BlocksView: View {
  let blocks: MarkdownBlocks
  let range: Range<Int>

  var body: some View {
    ForEach(range, id: \.self) { index in
      BlockView(
        block: blocks[index], isContinuation: blocks.isContinuation(at: index),
        isContinued: blocks.isContinued(at: index)
      )
      .padding(.top, gap(above: index))
    }
  }

  /// Segments of a long block are as close together as its lines.
  private func gap(above index: Int) -> CGFloat {
    if index == 0 { return 0 }
    if !blocks.isContinuation(at: index) { return 10 }
    if case .list = blocks[index] { return 4 }
    return 0
  }
}

private struct BlockView: View {
  let block: MarkdownBlock
  let isContinuation: Bool
  let isContinued: Bool

  var body: some View {
    switch block {
    case .paragraph(let text): Text(inline(text))
    case .heading(let level, let text): Text(inline(text)).font(level == 1 ? .title2 : level == 2 ? .title3 : .headline)
    case .code(let language, let text, let isClosed):
      CodeView(
        language: language, text: text, isClosed: isClosed, isContinuation: isContinuation, isContinued: isContinued)
    case .list(let items):
      VStack(alignment: .leading, spacing: 4) {
        ForEach(Array(items.enumerated()), id: \.offset) { _, item in
          HStack(alignment: .top, spacing: 6) {
            Text(item.marker).monospacedDigit()
            Text(inline(item.text))
          }
          .padding(.leading, CGFloat(item.depth) * 18)
        }
      }
    case .quote(let text): Text(inline(text)).foregroundStyle(.secondary).padding(.leading, 12)
    case .table(let header, let rows): TableView(header: header, rows: rows)
    case .formula(let tex, _): FormulaView(tex: tex)
    case .rule: Divider()
    }
  }
}

/// Formulas are written on the line. Text that the parser rejects is shown verbatim.
private func inline(_ text: String) -> AttributedString {
  let options = AttributedString.MarkdownParsingOptions(interpretedSyntax: .inlineOnlyPreservingWhitespace)
  return (try? AttributedString(markdown: text.replacingFormulas(), options: options)) ?? AttributedString(text)
}

/// A message as one text, so that a selection may span all of it.
struct SelectableMessageView: View {
  let pieces: [SelectablePiece]

  var body: some View {
    Text(content).textSelection(.enabled)
  }

  private var content: AttributedString {
    var result = AttributedString()
    for (index, piece) in pieces.enumerated() {
      if index > 0 { result += AttributedString("\n\n") }
      var part = piece.style == .verbatim ? AttributedString(piece.text) : inline(piece.text)
      if piece.style == .verbatim { part.font = .system(.body, design: .monospaced) }
      if piece.style == .heading { part.font = .headline }
      result += part
    }
    return result
  }
}

private struct CodeView: View {
  let language: String?
  let text: String
  let isClosed: Bool
  let isContinuation: Bool
  let isContinued: Bool

  /// Highlighted once the block is complete: highlighting it again for every token would cost more than the answer.
  private var content: AttributedString {
    guard isClosed, !isContinuation else { return AttributedString(text) }
    var result = AttributedString()
    for span in CodeHighlighter.spans(of: text, language: language) {
      var part = AttributedString(span.text)
      part.foregroundColor = color(of: span.kind)
      result += part
    }
    return result
  }

  private var outline: UnevenRoundedRectangle {
    let (top, bottom): (CGFloat, CGFloat) = (isContinuation ? 0 : 8, isContinued ? 0 : 8)
    return UnevenRoundedRectangle(
      topLeadingRadius: top, bottomLeadingRadius: bottom, bottomTrailingRadius: bottom, topTrailingRadius: top)
  }

  private func color(of kind: CodeSpan.Kind) -> Color? {
    switch kind {
    case .plain: nil
    case .keyword: .purple
    case .string: .red
    case .number: .blue
    case .comment: .secondary
    }
  }

  var body: some View {
    VStack(alignment: .leading, spacing: 6) {
      if !isContinuation {
        HStack {
          Text(language ?? localized("code")).font(.caption).foregroundStyle(.secondary)
          Spacer()
          Button("Copy code", systemImage: "doc.on.doc") { copyToPasteboard(text) }
            .labelStyle(.iconOnly).buttonStyle(.borderless).disabled(isContinued)
        }
      }
      ScrollView(.horizontal) { Text(content).font(.system(.body, design: .monospaced)) }
    }
    .padding(.horizontal, 10)
    .padding(.top, isContinuation ? 0 : 10)
    .padding(.bottom, isContinued ? 0 : 10)
    .background(Color.secondary.opacity(0.12), in: outline)
    .accessibilityElement(children: .contain)
    .accessibilityLabel(language.map { localized("Code, \($0)") } ?? localized("Code"))
  }
}

private struct TableView: View {
  let header: [String]
  let rows: [[String]]

  var body: some View {
    Grid(alignment: .leading, horizontalSpacing: 16, verticalSpacing: 6) {
      if !header.isEmpty {
        GridRow { ForEach(Array(header.enumerated()), id: \.offset) { _, cell in Text(inline(cell)).bold() } }
        Divider()
      }
      ForEach(Array(rows.enumerated()), id: \.offset) { _, row in
        GridRow { ForEach(Array(row.enumerated()), id: \.offset) { _, cell in Text(inline(cell)) } }
      }
    }
  }
}
