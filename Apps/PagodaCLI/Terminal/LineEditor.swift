// LineEditor: lines from the user, with editing and history on a terminal, plain from a pipe.
import CEdit
import Foundation

struct LineEditor {
  let isInteractive = Terminal.inputIsTerminal && Terminal.outputIsTerminal

  /// The next line without its newline; nil at the end of input (Ctrl-D). The history lives as long as the program:
  /// what people ask is not written to disk.
  func read(prompt: String) -> String? {
    guard isInteractive else { return readLine() }
    guard let line = readline(prompt) else { return nil }
    defer { free(line) }
    if line.pointee != 0 { add_history(line) }
    return String(cString: line)
  }
}
