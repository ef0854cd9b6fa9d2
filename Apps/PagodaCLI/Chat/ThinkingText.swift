// ThinkingText: what a model thinks before its answer, dim and wrapped by words, for a terminal only.
import Foundation

struct ThinkingText {
  private let descriptor: Int32
  private var wrap: WordWrap
  private var hasBegun = false

  /// - Parameter descriptor: standard output or standard error.
  init(to descriptor: Int32) {
    self.descriptor = descriptor
    wrap = WordWrap(width: Style.textWidth(of: descriptor) ?? 0)
  }

  mutating func add(_ text: String) {
    guard isatty(descriptor) == 1 else { return }
    hasBegun = true
    write(Style.dim(Terminal.printable(wrap.add(text))))
  }

  /// Ends the thinking, if there was any.
  /// - Parameter gap: what separates it from the next output.
  mutating func end(_ gap: String = "\n\n") {
    guard hasBegun else { return }
    write(Style.dim(Terminal.printable(wrap.finish())) + gap)
    self = ThinkingText(to: descriptor)
  }

  private func write(_ text: String) {
    if descriptor == STDERR_FILENO { Terminal.writeError(text) } else { Terminal.write(text) }
  }
}
