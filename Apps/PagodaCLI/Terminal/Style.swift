// Style: the terminal's width, and colours if the output is a terminal and the user wants them.
import Foundation

package enum Style {
  /// Whether standard output accepts escape sequences: it is a terminal, not a dumb one, and NO_COLOR is not set.
  static let isColoured = allowsColour(isTerminal: Terminal.outputIsTerminal, ProcessInfo.processInfo.environment)

  package static func allowsColour(isTerminal: Bool, _ environment: [String: String]) -> Bool {
    isTerminal && environment["TERM"] != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
  }

  /// Whether the cursor can be moved; NO_COLOR does not affect this.
  static let canMove = Terminal.outputIsTerminal && canMoveCursor
  static let canMoveCursor = ProcessInfo.processInfo.environment["TERM"] != "dumb"

  /// The same as `dim` and `bold`, but always: for text that is only made for a terminal with colours.
  static func dimmed(_ text: String) -> String { "\u{1B}[2m\(text)\u{1B}[22m" }
  static func emphasised(_ text: String) -> String { "\u{1B}[1m\(text)\u{1B}[22m" }
  static func dim(_ text: String) -> String { isColoured ? dimmed(text) : text }
  static func bold(_ text: String) -> String { isColoured ? emphasised(text) : text }
  static func accent(_ text: String) -> String { isColoured ? "\u{1B}[36m\(text)\u{1B}[39m" : text }

  /// Columns of the terminal at `descriptor`; nil when there is none.
  static func width(of descriptor: Int32) -> Int? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
    return ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? 80
  }

  /// Rows of the terminal at `descriptor`; nil when there is none.
  static func height(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
    return size.ws_row > 0 ? Int(size.ws_row) : nil
  }

  /// Columns for text on standard output: those of the terminal, at most 100 so that lines stay readable; nil for a
  /// pipe.
  static var textWidth: Int? { textWidth(of: STDOUT_FILENO) }
  static func textWidth(of descriptor: Int32) -> Int? { width(of: descriptor).map { min($0, 100) } }
}
