// BenchPlot: the rows of `pagoda bench` as a chart, each bar relative to the machine's limit for that test.
import Foundation
import PagodaKit

package enum BenchPlot {
  private static let width = 760.0
  private static let barLeft = 120.0
  private static let barWidth = 330.0
  private static let rowHeight = 44.0
  private static let top = 78.0

  /// - Parameter subtitle: model, format and machine, in one line.
  package static func chart(_ rows: [BenchRow], subtitle: String) -> String {
    let height = top + Double(rows.count) * rowHeight + 42
    var svg = SVG(width: width, height: height, title: "Tokens per second against the limits of the machine")
    svg.text("Tokens per second, against the limits of this machine", x: 20, y: 32, class: "ink head")
    svg.text(subtitle, x: 20, y: 54, class: "dim note")
    for (index, row) in rows.enumerated() {
      let y = top + Double(index) * rowHeight
      svg.text(row.test.name, x: 20, y: y + 19, class: "ink label")
      svg.text(meaning(of: row.test), x: 20, y: y + 33, class: "dim note")
      svg.rectangle(x: barLeft, y: y + 4, width: barWidth, height: 20, class: "limit")
      svg.rectangle(x: barLeft, y: y + 4, width: barWidth * min(row.shareOfLimit, 1), height: 20, class: "value")
      let percent = Int((100 * row.shareOfLimit).rounded())
      let limit = row.isLimitedByBandwidth ? "memory bandwidth" : "arithmetic peak"
      svg.text(speed(row.speed) + " tok/s", x: barLeft + barWidth + 12, y: y + 19, class: "ink label")
      svg.text("\(percent) % of \(limit)", x: barLeft + barWidth + 102, y: y + 19, class: "dim note")
    }
    let note =
      "A full bar is the lower of two limits measured with each test: reading every byte once, or every multiplication at peak."
    svg.text(note, x: 20, y: height - 16, class: "dim note")
    return svg.document
  }

  private static func speed(_ value: Double) -> String { String(format: value < 100 ? "%.1f" : "%.0f", value) }

  private static func meaning(of test: BenchTest) -> String {
    switch test.kind {
    case .prefill: "reads a prompt"
    case .decode(_, let depth): depth > 0 ? "one answer, deep" : "one answer"
    case .speculative: "one answer, with speculation"
    case .batch(let sequences): "\(sequences) sequences"
    }
  }
}

extension BenchRow {
  /// Whether reading bytes, not arithmetic, bounds this test.
  package var isLimitedByBandwidth: Bool { percentOfBandwidth >= percentOfPeak }
  /// The share of the lower limit that was reached, 0 to about 1.
  package var shareOfLimit: Double { max(percentOfBandwidth, percentOfPeak) / 100 }
}
