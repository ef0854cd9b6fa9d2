// KeyboardMap: every keyboard shortcut of the app, in one place; menus, buttons and the help window read it.

/// A keyboard shortcut and its action.
public struct ChatShortcut: Hashable, Sendable, Identifiable {
  /// A modifier key.
  public enum Modifier: String, Hashable, Sendable, CaseIterable {
    /// ⌃
    case control
    /// ⌥
    case option
    /// ⇧
    case shift
    /// ⌘
    case command

    /// Its sign on keyboards.
    public var sign: String {
      switch self {
      case .control: "⌃"
      case .option: "⌥"
      case .shift: "⇧"
      case .command: "⌘"
      }
    }
  }

  /// A key that is not a character.
  public enum SpecialKey: String, Hashable, Sendable {
    /// ⏎
    case `return`
    /// ⎋
    case escape
    /// ⌫
    case delete
    /// The space bar.
    case space

    /// Its sign on keyboards.
    public var sign: String {
      switch self {
      case .return: "⏎"
      case .escape: "⎋"
      case .delete: "⌫"
      case .space: "␣"
      }
    }
  }

  /// A key.
  public enum Key: Hashable, Sendable {
    /// A key that types a character.
    case character(Character)
    /// Any other key.
    case special(SpecialKey)
  }

  /// The action, as a menu names it.
  public var title: String
  /// Its key.
  public var key: Key
  /// The keys held down with it.
  public var modifiers: Set<Modifier>

  /// The keys, which are unique to this shortcut.
  public var id: String { keys }

  /// The keys as menus show them, such as `⌥⌘Z`.
  public var keys: String {
    let held = Modifier.allCases.filter { modifiers.contains($0) }.map(\.sign).joined()
    switch key {
    case .character(let character): return held + character.uppercased()
    case .special(let special): return held + special.sign
    }
  }

  init(_ title: InterfaceText, _ key: Key, _ modifiers: Set<Modifier> = [.command]) {
    self.title = localized(title)
    self.key = key
    self.modifiers = modifiers
  }
}

/// Every keyboard shortcut of the app. Those of the system and of text fields (⌘Q, ⌘C, ⌘⌫, ⌘E …) are not in it, and
/// must not be.
public enum KeyboardMap {
  /// Starts a chat.
  public static let newChat = ChatShortcut("New Chat", .character("n"))
  /// Opens another window.
  public static let newWindow = ChatShortcut("New Window", .character("n"), [.command, .shift])
  /// Sends the message. By default, Return without ⌘ sends it too.
  public static let send = ChatShortcut("Send", .special(.return))
  /// Ends the answer.
  public static let stop = ChatShortcut("Stop", .character("."))
  /// Ends the answer, from the composer.
  public static let stopWriting = ChatShortcut("Stop", .special(.escape), [])
  /// Regenerates the answer.
  public static let regenerate = ChatShortcut("Regenerate", .character("r"))
  /// Continues an answer that ended early.
  public static let continueAnswer = ChatShortcut("Continue Answer", .character("k"), [.command, .shift])
  /// Searches the chat.
  public static let find = ChatShortcut("Find in Chat…", .character("f"))
  /// Copies the chat so far into a new one.
  public static let branch = ChatShortcut("Branch from Here", .character("b"), [.command, .shift])
  /// Attaches files to the message.
  public static let attach = ChatShortcut("Attach Files…", .character("a"), [.command, .shift])
  /// Attaches the image on the clipboard. Not ⌘V or ⇧⌘V, which paste text into the field.
  public static let pasteImage = ChatShortcut("Paste Image", .character("v"), [.command, .control])
  /// Saves the chat as Markdown.
  public static let exportMarkdown = ChatShortcut("Export as Markdown…", .character("e"), [.command, .option])
  /// Saves the chat as JSON.
  public static let exportJSON = ChatShortcut("Export as JSON…", .character("e"), [.command, .shift])
  /// Deletes the chat, after confirmation. Not ⌘⌫, which deletes to the start of the line in a text field.
  public static let delete = ChatShortcut("Delete Chat…", .special(.delete), [.command, .control])
  /// Restores a deleted chat.
  public static let undoDelete = ChatShortcut("Undo Delete Chat", .character("z"), [.command, .option])
  /// Opens the model library.
  public static let library = ChatShortcut("Models…", .character("l"), [.command, .shift])
  /// Frees the model's memory.
  public static let unload = ChatShortcut("Unload Model", .character("u"), [.command, .shift])
  /// Opens the panel for a quick question from any program, if the settings say so.
  public static let quickPanel = ChatShortcut("Quick Question", .special(.space), [.option])
  /// Shows this map.
  public static let help = ChatShortcut("Keyboard Shortcuts", .character("/"))

  /// All of them, as the help window lists them.
  public static let all = [
    newChat, newWindow, send, stop, stopWriting, regenerate, continueAnswer, find, branch, attach, pasteImage,
    exportMarkdown, exportJSON,
    delete, undoDelete, library, unload, quickPanel, help,
  ]
}
