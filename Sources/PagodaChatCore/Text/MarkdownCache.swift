// MarkdownCache: the blocks of the messages of a conversation, parsed once.
import Foundation

/// The blocks of messages: of finished ones as they were when last asked for, of the one in progress as it comes.
@MainActor
final class MarkdownCache {
  /// The part of an answer that may still change is shorter than two of these.
  static let pieceBytes = 2048

  private var finished: [UUID: (length: Int, blocks: MarkdownBlocks)] = [:]
  private var streamID: UUID?
  private var stream = MarkdownStream()
  private var settled = MarkdownBlocks.Storage()

  /// Bytes looked at for answers in progress.
  var examinedCharacters: Int { stream.examinedCharacters }
  /// Blocks made or copied for readings of the answer in progress.
  private(set) var copiedBlocks = 0

  /// An answer begins.
  func begin(_ id: UUID) {
    streamID = id
    stream = MarkdownStream(pieceBytes: Self.pieceBytes)
    settled = MarkdownBlocks.Storage()
    copiedBlocks = 0
  }

  func append(_ piece: String) {
    stream.append(piece)
    let new = stream.closedBlocks[settled.blocks.count...]
    if new.isEmpty { return }
    settled.append(new)
    copiedBlocks += new.count
  }

  /// The answer is whole: its long blocks are whole from now on.
  func end() { streamID = nil }

  func blocks(of message: ChatMessage) -> MarkdownBlocks {
    let length = message.text.utf8.count
    if message.id == streamID, stream.text.utf8.count == length {
      let open = stream.readOpenBlocks()
      copiedBlocks += open.count
      return MarkdownBlocks(settled, open: open)
    }
    if let known = finished[message.id], known.length == length { return known.blocks }
    let blocks = MarkdownBlocks(message.text)
    finished[message.id] = (length, blocks)
    return blocks
  }
}
