// RawMode: the terminal passes every key to the program, and is restored afterwards.
import Foundation

/// Keys arrive one by one, without echo, until `restore`. Output processing is unchanged.
struct RawMode {
  private var before = termios()

  /// Nil if standard input is not a terminal.
  init?() {
    guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
    var raw = before
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    raw.c_iflag &= ~tcflag_t(ICRNL | INLCR | IXON | ISTRIP)
    withUnsafeMutableBytes(of: &raw.c_cc) { bytes in
      bytes[Int(VMIN)] = 1
      bytes[Int(VTIME)] = 0
    }
    guard tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0 else { return nil }
  }

  func restore() {
    var settings = before
    tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
  }
}

/// Keys are not echoed until `restore`, so that a Ctrl-C or the next message does not appear inside an answer. What is
/// typed meanwhile is kept, and the line editor shows it.
struct QuietMode {
  private var before = termios()

  /// Nil if standard input is not a terminal.
  init?() {
    guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
    var quiet = before
    quiet.c_lflag &= ~tcflag_t(ECHO)
    guard tcsetattr(STDIN_FILENO, TCSADRAIN, &quiet) == 0 else { return nil }
  }

  func restore() {
    var settings = before
    tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
  }
}
