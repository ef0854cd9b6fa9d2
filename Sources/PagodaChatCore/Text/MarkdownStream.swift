// MarkdownStream: Markdown that arrives in chunks; each line is parsed once, regardless of later text.

/// Markdown that arrives in chunks. A line is parsed once, when its end has arrived; only the open line is
/// examined again, so that a whole answer costs time proportional to its length.
public struct MarkdownStream: Sendable {
  /// The text so far.
  public private(set) var text = ""
  /// Bytes examined so far, unsettled ones once per reading; for tests of the cost.
  public private(set) var examinedCharacters = 0

  private var openLine = ""
  private var parser: MarkdownParser

  /// An empty text.
  public init() { parser = MarkdownParser() }

  /// An empty text whose long blocks come in segments of about this size, so that the part that may still change stays
  /// short.
  init(chunkBytes: Int) { parser = MarkdownParser(chunkBytes: chunkBytes) }

  /// Takes the next chunk.
  public mutating func append(_ chunk: String) {
    text += chunk
    let hadHalf = openLine.last == "\r"  // the first half of a CRLF has arrived
    openLine += chunk
    guard hadHalf || chunk.contains(where: \.isNewline) else { return breakLongLine() }
    examinedCharacters += openLine.utf8.count
    let isHalf = openLine.last == "\r"
    var lines = openLine.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    if isHalf, lines.count > 1 { lines.removeLast() }
    for line in lines.dropLast() { parser.take(line) }
    openLine = (lines.last.map { String($0) } ?? "") + (isHalf ? "\r" : "")
  }

  /// A line longer than a segment is split at its spaces.
  private mutating func breakLongLine() {
    guard openLine.utf8.count > parser.chunkBytes else { return }
    examinedCharacters += openLine.utf8.count
    let end = openLine.lastIndex(of: " ") ?? openLine.endIndex
    parser.take(openLine[..<end], isContinued: true)
    openLine = String(openLine[end...])
  }

  /// The settled blocks.
  public var closedBlocks: [MarkdownBlock] { parser.closed }

  /// All blocks, the last of which may still grow.
  public var blocks: [MarkdownBlock] { parser.closed + openBlocks }

  /// The unsettled blocks: usually one.
  public var openBlocks: [MarkdownBlock] {
    var rest = parser
    rest.closed = []
    let line = openLine.last == "\r" ? String(openLine.dropLast()) : openLine
    rest.take(line[...])
    rest.end()
    return rest.closed
  }

  /// The same as `openBlocks`, with its cost counted.
  mutating func readOpenBlocks() -> [MarkdownBlock] {
    examinedCharacters += parser.unsettledBytes + openLine.utf8.count
    return openBlocks
  }
}
