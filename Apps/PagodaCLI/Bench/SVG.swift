// SVG: the few shapes used to draw charts, in colours that follow the reader's light or dark setting.
import Foundation

package struct SVG {
  package enum Anchor: String { case start, middle, end }

  private let width: Double
  private let height: Double
  private let title: String
  private var body = ""

  package init(width: Double, height: Double, title: String) {
    self.width = width
    self.height = height
    self.title = title
  }

  package mutating func rectangle(x: Double, y: Double, width: Double, height: Double, class name: String) {
    let size = "width=\"\(number(max(width, 0)))\" height=\"\(number(max(height, 0)))\""
    body += "<rect x=\"\(number(x))\" y=\"\(number(y))\" \(size) rx=\"2\" class=\"\(name)\"/>\n"
  }

  package mutating func line(from a: (Double, Double), to b: (Double, Double), class name: String) {
    let ends = "x1=\"\(number(a.0))\" y1=\"\(number(a.1))\" x2=\"\(number(b.0))\" y2=\"\(number(b.1))\""
    body += "<line \(ends) class=\"\(name)\"/>\n"
  }

  package mutating func path(_ points: [(Double, Double)], class name: String) {
    let text = points.enumerated().map {
      "\($0.offset == 0 ? "M" : "L")\(number($0.element.0)) \(number($0.element.1))"
    }
    body += "<path d=\"\(text.joined(separator: " "))\" class=\"\(name)\"/>\n"
  }

  package mutating func text(_ text: String, x: Double, y: Double, anchor: Anchor = .start, class name: String) {
    let attributes = "x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor.rawValue)\""
    body += "<text \(attributes) class=\"\(name)\">\(Self.escaped(text))</text>\n"
  }

  package var document: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" role="img" \
    font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif">
    <title>\(Self.escaped(title))</title>
    <style>
    .paper { fill: #ffffff } .ink { fill: #1f2328 } .dim { fill: #59636e } .head { font-size: 17px; font-weight: 600 }
    .label { font-size: 13px } .note { font-size: 11.5px } .limit { fill: #d8dee4 } .value { fill: #b3402a }
    .axis { stroke: #d8dee4; stroke-width: 1 } .curve { fill: none; stroke: #b3402a; stroke-width: 2 }
    .second { fill: none; stroke: #59636e; stroke-width: 1.5; stroke-dasharray: 4 3 }
    @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .ink { fill: #e6edf3 } .dim { fill: #9198a1 } .limit { fill: #30363d } .value { fill: #e8775f }
    .axis { stroke: #30363d } .curve { stroke: #e8775f } .second { stroke: #9198a1 } }
    </style>
    <rect width="\(number(width))" height="\(number(height))" class="paper"/>
    \(body)</svg>

    """
  }

  /// At most two decimals, so that files of the same chart do not differ by noise.
  private func number(_ value: Double) -> String {
    let rounded = (value * 100).rounded() / 100
    return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
  }

  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: ">", with: "&gt;")
  }
}
