// Differences between macOS and iOS: the pasteboard, and keyboard shortcuts in SwiftUI's types.
import PagodaChatCore
import SwiftUI

#if canImport(AppKit)
import AppKit
#else
import UIKit
#endif

/// iOS refuses GPU work of apps that are not on the screen.
#if canImport(AppKit)
let stopsAnswersInBackground = false
#else
let stopsAnswersInBackground = true
#endif

@MainActor func copyToPasteboard(_ text: String) {
  #if canImport(AppKit)
  NSPasteboard.general.clearContents()
  NSPasteboard.general.setString(text, forType: .string)
  #else
  UIPasteboard.general.string = text
  #endif
}

/// The image on the clipboard as PNG; nil if there is none.
@MainActor func pastedImage() -> Data? {
  #if canImport(AppKit)
  if let data = NSPasteboard.general.data(forType: .png) { return data }
  let tiff = NSPasteboard.general.data(forType: .tiff)
  return tiff.flatMap { NSBitmapImageRep(data: $0)?.representation(using: .png, properties: [:]) }
  #else
  return UIPasteboard.general.image?.pngData()
  #endif
}

/// The image in a file's bytes; nil if the system cannot read them.
@MainActor func shownImage(_ data: Data) -> Image? {
  #if canImport(AppKit)
  return NSImage(data: data).map(Image.init(nsImage:))
  #else
  return UIImage(data: data).map(Image.init(uiImage:))
  #endif
}

extension View {
  /// A shortcut of the keyboard map.
  func keyboardShortcut(_ shortcut: ChatShortcut) -> some View {
    keyboardShortcut(KeyEquivalent(shortcut.key), modifiers: EventModifiers(shortcut.modifiers))
  }
}

extension KeyEquivalent {
  fileprivate init(_ key: ChatShortcut.Key) {
    switch key {
    case .character(let character): self.init(character)
    case .special(.return): self = .return
    case .special(.escape): self = .escape
    case .special(.delete): self = .delete
    case .special(.space): self = .space
    }
  }
}

extension EventModifiers {
  fileprivate init(_ modifiers: Set<ChatShortcut.Modifier>) {
    self = []
    if modifiers.contains(.command) { insert(.command) }
    if modifiers.contains(.shift) { insert(.shift) }
    if modifiers.contains(.option) { insert(.option) }
    if modifiers.contains(.control) { insert(.control) }
  }
}
