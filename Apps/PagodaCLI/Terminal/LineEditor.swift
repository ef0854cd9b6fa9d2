// LineEditor: lines from the user, with editing and history on a terminal, plain from a pipe.
import Foundation

/// Reads lines, with a history that Ctrl-R searches.
final class LineEditor {
  let isInteractive = Terminal.inputIsTerminal && Terminal.outputIsTerminal
  /// Words that Tab completes at the start of a line.
  var completions: [String] = []

  var history = LineHistory()
  private let input: StandardInput
  private var keys: KeyReader
  private var shownRow = 0  // row of the cursor, counted from the first row drawn

  init() {
    let input = StandardInput()
    self.input = input
    keys = KeyReader(next: input.next, isMore: input.isMore)
  }

  /// The next text without its newline; nil at the end of input (Ctrl-D). Pasted text may have several lines.
  func read(prompt: String) -> String? {
    guard isInteractive, Style.canMoveCursor else {
      if isInteractive { Terminal.write(prompt) }
      return readLine()
    }
    guard let mode = RawMode() else { return readLine() }
    input.takeTypedAhead()
    Terminal.write("\u{1B}[?2004h")
    defer {
      Terminal.write("\u{1B}[?2004l")
      mode.restore()
    }
    let text = edit(prompt)
    if let text { history.add(text) }
    return text
  }

  private func edit(_ prompt: String) -> String? {
    var buffer = LineBuffer()
    var recalled = history.lines.count  // the line being typed comes after all others
    var typed = ""
    shownRow = 0
    draw(buffer, prompt)
    while true {
      let key = keys.read()
      switch key {
      case .enter:
        leave(buffer, prompt)
        return buffer.text
      case .endOfInput:
        leave(buffer, prompt)
        return nil
      case .control("d") where buffer.isEmpty:
        leave(buffer, prompt)
        return nil
      case .control("c"):
        interrupt(&buffer, prompt)
        recalled = history.lines.count
      case .up, .down, .control("p"), .control("n"):
        let isUp = key == .up || key == .control("p")
        let next = recalled + (isUp ? -1 : 1)
        guard (0...history.lines.count).contains(next) else { continue }
        if recalled == history.lines.count { typed = buffer.text }
        recalled = next
        buffer.set(next == history.lines.count ? typed : history.lines[next])
      case .control("r"):
        if search(&buffer) {
          leave(buffer, prompt)
          return buffer.text
        }
      case .control("l"):
        Terminal.write("\u{1B}[H\u{1B}[2J")
        shownRow = 0
      case .control("z"): suspend()
      case .tab: complete(&buffer)
      default: apply(key, to: &buffer)
      }
      draw(buffer, prompt)
    }
  }

  /// Ctrl-R: each letter narrows the search, Ctrl-R goes to an older line, Escape and Ctrl-G give up. Enter sends the line
  /// found, which returns true; any other key edits it.
  private func search(_ buffer: inout LineBuffer) -> Bool {
    let before = buffer.text
    var text = ""
    var found: Int?
    while true {
      buffer.set(found.map { history.lines[$0] } ?? before)
      draw(buffer, "(search '\(text)'\(found == nil && !text.isEmpty ? ", nothing found" : "")) ")
      let key = keys.read()
      switch key {
      case .text(let more):
        text += more
        found = history.search(text, before: found.map { $0 + 1 } ?? history.lines.count)
      case .backspace:
        text = String(text.dropLast())
        found = history.search(text, before: history.lines.count)
      case .control("r"): found = history.search(text, before: found ?? history.lines.count) ?? found
      case .escape, .control("g"), .control("c"), .endOfInput:
        buffer.set(before)
        return false
      case .enter: return !buffer.isEmpty
      default:
        apply(key, to: &buffer)
        return false
      }
    }
  }

  private func apply(_ key: Key, to buffer: inout LineBuffer) {
    switch key {
    case .text(let text), .paste(let text): buffer.insert(text)
    case .newline, .control("j"): buffer.insert("\n")
    case .backspace: buffer.deleteBackward()
    case .delete, .control("d"): buffer.deleteForward()
    case .left, .control("b"): buffer.moveLeft()
    case .right, .control("f"): buffer.moveRight()
    case .wordLeft: buffer.moveWordLeft()
    case .wordRight: buffer.moveWordRight()
    case .home, .control("a"): buffer.moveToLineStart()
    case .end, .control("e"): buffer.moveToLineEnd()
    case .control("k"): buffer.killToLineEnd()
    case .control("u"): buffer.killToLineStart()
    case .control("w"): buffer.killWord()
    case .control("y"): buffer.yank()
    default: break
    }
  }

  /// Ctrl-C clears the typed text; on an empty line it says how to leave.
  private func interrupt(_ buffer: inout LineBuffer, _ prompt: String) {
    let hint = buffer.isEmpty ? "Ctrl-D or /bye leaves." : "Cleared. Ctrl-D or /bye leaves."
    leave(buffer, prompt)
    Terminal.write(Style.dim(hint) + "\n")
    buffer.set("")
    shownRow = 0
  }

  private func complete(_ buffer: inout LineBuffer) {
    let text = buffer.text
    guard text.hasPrefix("/"), buffer.cursor == buffer.characters.count else { return }
    let matches = completions.filter { $0.hasPrefix(text) }
    guard let first = matches.first else { return }
    let common = matches.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
    if matches.count == 1 {
      buffer.set(first + " ")
    } else if common.count > text.count {
      buffer.set(common)
    } else {
      Terminal.write("\r\n" + Style.dim(matches.joined(separator: "  ")) + "\n")
      shownRow = 0
    }
  }

  /// Ctrl-Z suspends, as in any program.
  private func suspend() {
    Terminal.write("\u{1B}[?2004l\r\n")
    kill(getpid(), SIGSTOP)
    Terminal.write("\u{1B}[?2004h")
    shownRow = 0
  }

  /// Moves below the text, so that later output does not overwrite it.
  private func leave(_ buffer: LineBuffer, _ prompt: String) {
    var end = buffer
    while end.cursor < end.characters.count { end.moveRight() }
    draw(end, prompt)
    Terminal.write("\r\n")
  }

  /// Redraws everything; if the text is taller than the terminal, the rows around the cursor.
  private func draw(_ buffer: LineBuffer, _ prompt: String) {
    let width = Style.width(of: STDOUT_FILENO) ?? 80
    let height = max((Style.height(of: STDOUT_FILENO) ?? 24) - 1, 1)
    let margin = String(repeating: " ", count: columnWidth(of: prompt))
    let layout = buffer.layout(prompt: prompt, continuation: margin, width: width)
    let first = max(0, min(layout.row - height / 2, layout.rows.count - height))
    let rows = layout.rows[first..<min(first + height, layout.rows.count)]
    var out = shownRow > 0 ? "\u{1B}[\(shownRow)A" : ""
    out += "\r\u{1B}[J" + coloured(rows.joined(separator: "\r\n"), prompt)
    let below = rows.endIndex - 1 - layout.row
    if below > 0 { out += "\u{1B}[\(below)A" }
    out += "\r" + (layout.column > 0 ? "\u{1B}[\(layout.column)C" : "")
    Terminal.write(out)
    shownRow = layout.row - first
  }

  private func coloured(_ text: String, _ prompt: String) -> String {
    text.hasPrefix(prompt) ? Style.accent(prompt) + text.dropFirst(prompt.count) : text
  }
}

/// Bytes of standard input, for one reader.
private final class StandardInput {
  private var typedAhead: [UInt8] = []  // in reverse order

  /// Call when the terminal has just begun to pass every key. Linux stores a Ctrl-D that was typed before then, during an
  /// answer, as a zero byte; later a zero byte is Ctrl-Space.
  func takeTypedAhead() {
    var bytes: [UInt8] = []
    while isMore(0), let byte = next() { bytes.append(byte == 0 ? 0x04 : byte) }
    typedAhead = bytes.reversed()
  }

  func next() -> UInt8? {
    if let byte = typedAhead.popLast() { return byte }
    var byte: UInt8 = 0
    while true {
      let count = Foundation.read(STDIN_FILENO, &byte, 1)
      if count == 1 { return byte }
      if count == 0 || errno != EINTR { return nil }
    }
  }

  func isMore(_ milliseconds: Int32) -> Bool {
    if !typedAhead.isEmpty { return true }
    var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, milliseconds) > 0
  }
}
