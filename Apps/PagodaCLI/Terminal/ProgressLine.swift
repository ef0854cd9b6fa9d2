// ProgressLine: a progress line on standard error, shown only on a terminal.
import Foundation

/// A line that shows progress. It never takes more than one line of the terminal.
final class ProgressLine: Sendable {
  private let title: String

  /// - Parameter unknown: whether the progress is unknown until the first call of `show`.
  init(_ title: String, unknown: Bool = false) {
    self.title = title
    if !unknown { show(0) }
  }

  func show(_ fraction: Double, after text: String = "") {
    guard Terminal.errorIsTerminal, Style.canMoveCursor, let width = Style.width(of: STDERR_FILENO) else { return }
    Terminal.writeError("\r\(progressText(title, fraction, text, width: width - 1))\u{1B}[K")
  }

  /// A line without a fraction, for example while waiting.
  func note(_ text: String) {
    guard Terminal.errorIsTerminal, Style.canMoveCursor, let width = Style.width(of: STDERR_FILENO) else { return }
    Terminal.writeError("\r\(clipped("\(title): \(text)", to: width - 1))\u{1B}[K")
  }

  /// A line without the title.
  func say(_ text: String) {
    guard Terminal.errorIsTerminal, Style.canMoveCursor, let width = Style.width(of: STDERR_FILENO) else { return }
    Terminal.writeError("\r\(Style.dim(clipped(text, to: width - 1)))\u{1B}[K")
  }

  func clear() {
    if Terminal.errorIsTerminal && Style.canMoveCursor { Terminal.writeError("\r\u{1B}[K") }
  }
}

/// Title, bar, per cent and text in at most `width` columns: the bar is shortened first, then the title, then the text.
package func progressText(_ title: String, _ fraction: Double, _ text: String, width: Int) -> String {
  let part = min(max(fraction, 0), 1)
  let numbers = "\(Int(part * 100)) %" + (text.isEmpty ? "" : " \(text)")
  let available = width - columnWidth(of: numbers) - 1
  let barWidth = min(max(available - columnWidth(of: title) - 1, 0), 24)
  if barWidth < 6 {
    let short = clipped(title, to: max(available, 0))
    return clipped(short.isEmpty ? numbers : "\(short) \(numbers)", to: width)
  }
  let filled = Int((part * Double(barWidth)).rounded())
  let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: barWidth - filled)
  return "\(title) \(bar) \(numbers)"
}
