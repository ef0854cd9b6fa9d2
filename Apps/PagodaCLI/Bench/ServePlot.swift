// ServePlot: a load on a server as a chart: tokens per second and requests in flight over time.
import Foundation

package enum ServePlot {
  private static let width = 760.0
  private static let height = 330.0
  private static let plot = (left: 64.0, top: 76.0, right: 700.0, bottom: 272.0)

  /// One request on the chart; times are seconds since the load began.
  package struct Span: Sendable {
    package var begin: Double
    package var end: Double
    package var tokens: [Double]

    package init(begin: Double, end: Double, tokens: [Double]) {
      self.begin = begin
      self.end = end
      self.tokens = tokens
    }
  }

  package static func chart(_ spans: [Span], seconds: Double, subtitle: String) -> String {
    let bins = series(spans, seconds: seconds)
    let most = max(bins.rates.max() ?? 0, 1), mostOpen = Double(max(bins.open.max() ?? 0, 1))
    var svg = SVG(width: width, height: height, title: "Tokens per second and requests in flight over time")
    svg.text("Tokens per second and requests in flight", x: 20, y: 32, class: "ink head")
    svg.text(subtitle, x: 20, y: 54, class: "dim note")
    for step in 0...4 {
      let y = plot.bottom - (plot.bottom - plot.top) * Double(step) / 4
      svg.line(from: (plot.left, y), to: (plot.right, y), class: "axis")
      svg.text(label(most * Double(step) / 4), x: plot.left - 8, y: y + 4, anchor: .end, class: "dim note")
      svg.text(label(mostOpen * Double(step) / 4), x: plot.right + 8, y: y + 4, class: "dim note")
    }
    for step in 0...4 {
      let x = plot.left + (plot.right - plot.left) * Double(step) / 4
      let time = String(format: "%.1f s", seconds * Double(step) / 4)
      svg.text(time, x: x, y: plot.bottom + 18, anchor: .middle, class: "dim note")
    }
    svg.path(points(bins.open.map { Double($0) / mostOpen }), class: "second")
    svg.path(points(bins.rates.map { $0 / most }), class: "curve")
    let note = "Line: tokens per second over all requests (left). Dashes: requests in flight (right)."
    svg.text(note, x: 20, y: height - 16, class: "dim note")
    return svg.document
  }

  /// Tokens per second in bins of equal width, and the requests in flight in the middle of each.
  package static func series(_ spans: [Span], seconds: Double, binCount: Int = 60) -> (rates: [Double], open: [Int]) {
    let binSeconds = max(seconds, 1e-6) / Double(binCount)
    func bin(_ time: Double) -> Int { min(max(Int(time / binSeconds), 0), binCount - 1) }
    var rates = Array(repeating: 0.0, count: binCount)
    var open = Array(repeating: 0, count: binCount)
    for span in spans {
      for time in span.tokens { rates[bin(time)] += 1 / binSeconds }
      for index in 0..<binCount {
        let middle = (Double(index) + 0.5) * binSeconds
        if span.begin <= middle && middle < span.end { open[index] += 1 }
      }
    }
    return (rates, open)
  }

  /// A line through values that are fractions of the height, spread over the width.
  private static func points(_ shares: [Double]) -> [(Double, Double)] {
    shares.enumerated().map { index, share in
      let x = plot.left + (plot.right - plot.left) * (Double(index) + 0.5) / Double(shares.count)
      return (x, plot.bottom - (plot.bottom - plot.top) * share)
    }
  }

  private static func label(_ value: Double) -> String { String(format: value < 10 ? "%.1f" : "%.0f", value) }
}
