// A formula in two dimensions, in lines and columns of text.
import PagodaChatCore
import SwiftUI

/// A formula on lines of its own.
struct FormulaView: View {
  let tex: String

  var body: some View {
    let formula = Formula(tex: tex)
    ScrollView(.horizontal) { PartView(part: formula).padding(.vertical, 4) }
      .accessibilityElement(children: .ignore)
      .accessibilityLabel(formula.line)
      .contextMenu { Button("Copy as TeX") { copyToPasteboard(tex) } }
  }
}

/// A part of a formula. Parts that fit on a line are one text each.
private struct PartView: View {
  let part: Formula

  var body: some View {
    if part.isFlat {
      Text(part.line).font(.system(.body, design: .serif))
    } else {
      drawn
    }
  }

  @ViewBuilder private var drawn: some View {
    switch part {
    case .sign(let text), .text(let text): Text(text)
    case .row:
      HStack(spacing: 4) {
        ForEach(Array(part.drawnParts.enumerated()), id: \.offset) { _, part in PartView(part: part) }
      }
    case .fraction(let above, let below, let hasLine):
      VStack(spacing: 2) {
        PartView(part: above)
        if hasLine { Divider() }
        PartView(part: below)
      }
      .fixedSize()
    case .scripts(let base, let below, let above, let isStacked): scripts(base, below, above, isStacked)
    case .root(let inner, let degree):
      HStack(spacing: 0) {
        if let degree { PartView(part: degree).font(.caption) }
        tall("√", inner)
        marked(.overline, inner)
      }
    case .fenced(let open, let inner, let close):
      HStack(spacing: 1) {
        tall(open, inner)
        PartView(part: inner)
        tall(close, inner)
      }
    case .marked(let inner, let mark): marked(mark, inner)
    case .table(let rows):
      Grid(alignment: .leading, horizontalSpacing: 12, verticalSpacing: 4) {
        ForEach(Array(rows.enumerated()), id: \.offset) { _, row in
          GridRow { ForEach(Array(row.enumerated()), id: \.offset) { _, cell in PartView(part: cell) } }
        }
      }
    }
  }

  @ViewBuilder private func scripts(_ base: Formula, _ below: Formula?, _ above: Formula?, _ isStacked: Bool)
    -> some View
  {
    if isStacked {
      VStack(spacing: 0) {
        if let above { PartView(part: above).font(.caption) }
        PartView(part: base)
        if let below { PartView(part: below).font(.caption) }
      }
    } else {
      HStack(spacing: 1) {
        PartView(part: base)
        VStack(spacing: 2) {
          if let above { PartView(part: above).font(.caption) }
          if let below { PartView(part: below).font(.caption) }
        }
      }
    }
  }

  /// A fence as high as what it encloses.
  private func tall(_ fence: String, _ inner: Formula) -> some View {
    Text(fence).scaleEffect(x: 1, y: CGFloat(inner.height))
  }

  private func marked(_ mark: FormulaMark, _ inner: Formula) -> some View {
    VStack(spacing: 0) {
      if mark == .overline || mark == .bar {
        Divider()
      } else if mark != .underline {
        Text(mark.sign)
      }
      PartView(part: inner)
      if mark == .underline { Divider() }
    }
    .fixedSize()
  }
}
