// WebPage: the readable text of an HTML page, for attachments.
import Foundation

/// The title and the readable text of an HTML page.
public struct WebPage: Hashable, Sendable {
  /// Its title; empty if it has none.
  public var title = ""
  /// Its text, a paragraph per line, without menus, scripts and styles.
  public var text = ""

  /// Elements whose content is not for reading.
  private static let skipped: Set<String> = [
    "script", "style", "noscript", "template", "svg", "nav", "header", "footer", "aside", "form", "iframe", "button",
  ]
  /// Elements that begin a new line.
  private static let blocks: Set<String> = [
    "p", "div", "br", "li", "ul", "ol", "tr", "table", "section", "article", "main", "blockquote", "pre", "hr", "h1",
    "h2", "h3", "h4", "h5", "h6", "dt", "dd", "figcaption",
  ]

  /// Reads a page. Broken HTML gives what can be read of it.
  public init(html: String) {
    var (out, rest) = ("", Substring(html))
    while let open = rest.firstIndex(of: "<") {
      out += rest[..<open]
      rest = rest[open...]
      if rest.hasPrefix("<!--") {
        rest = rest.range(of: "-->").map { rest[$0.upperBound...] } ?? ""
        continue
      }
      guard let close = rest.firstIndex(of: ">") else { break }
      let tag = rest[rest.index(after: rest.startIndex)..<close].lowercased()
      rest = rest[rest.index(after: close)...]
      let name = String(tag.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber })
      if !tag.hasPrefix("/"), name == "title" || Self.skipped.contains(name) {
        let end = rest.range(of: "</\(name)", options: .caseInsensitive)?.lowerBound ?? rest.endIndex
        if name == "title", title.isEmpty { title = Self.line(Self.unescaped(String(rest[..<end]))) }
        rest = rest[end...]
      } else if Self.blocks.contains(name) {
        out += name.first == "h" && name.last?.isNumber == true && !tag.hasPrefix("/") ? "\n\n## " : "\n"
        if name == "li", !tag.hasPrefix("/") { out += "- " }
      }
    }
    out += rest.first == "<" ? "" : rest
    text = Self.paragraphs(Self.unescaped(out))
  }

  private static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private static func paragraphs(_ text: String) -> String {
    text.split(separator: "\n").map { line(String($0)) }.filter { !$0.isEmpty && $0 != "-" && $0 != "##" }
      .joined(separator: "\n")
  }

  private static let entities = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "ndash": "–", "mdash": "—",
    "hellip": "…", "copy": "©", "eacute": "é", "auml": "ä", "ouml": "ö", "uuml": "ü", "szlig": "ß",
  ]

  private static func unescaped(_ text: String) -> String {
    var (out, rest) = ("", Substring(text))
    while let start = rest.firstIndex(of: "&") {
      out += rest[..<start]
      rest = rest[start...]
      guard let end = rest.prefix(12).firstIndex(of: ";"), let value = character(rest[rest.index(after: start)..<end])
      else {
        out.append(rest.removeFirst())
        continue
      }
      out += value
      rest = rest[rest.index(after: end)...]
    }
    return out + rest
  }

  private static func character(_ name: Substring) -> String? {
    guard name.first == "#" else { return entities[String(name)] }
    let digits = name.dropFirst()
    let code = digits.first == "x" || digits.first == "X" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return code.flatMap { Unicode.Scalar($0) }.map { String(Character($0)) }
  }
}
