// MarkdownCache: the blocks of the messages of a conversation, parsed once.
import Foundation

/// The blocks of messages: cached for finished ones, updated incrementally for the one in progress.
@MainActor
final class MarkdownCache {
  /// The part of an answer that may still change is shorter than two of these.
  static let chunkBytes = 2048

  private var finished: [UUID: (length: Int, blocks: MarkdownBlocks)] = [:]
  private var streamID: UUID?
  private var stream = MarkdownStream()
  private var settled = MarkdownBlocks.Storage()

  /// Bytes examined for answers in progress.
  var examinedCharacters: Int { stream.examinedCharacters }
  /// Blocks created or copied for readings of the answer in progress.
  private(set) var copiedBlocks = 0

  /// An answer starts.
  func begin(_ id: UUID) {
    streamID = id
    stream = MarkdownStream(chunkBytes: Self.chunkBytes)
    settled = MarkdownBlocks.Storage()
    copiedBlocks = 0
  }

  func append(_ chunk: String) {
    stream.append(chunk)
    let new = stream.closedBlocks[settled.blocks.count...]
    if new.isEmpty { return }
    settled.append(new)
    copiedBlocks += new.count
  }

  /// The answer is complete: its long blocks are no longer split.
  func end() { streamID = nil }

  func blocks(of message: ChatMessage) -> MarkdownBlocks {
    let length = message.text.utf8.count
    if message.id == streamID, stream.text.utf8.count == length {
      let open = stream.readOpenBlocks()
      copiedBlocks += open.count
      return MarkdownBlocks(settled, open: open)
    }
    if let cached = finished[message.id], cached.length == length { return cached.blocks }
    let blocks = MarkdownBlocks(message.text)
    finished[message.id] = (length, blocks)
    return blocks
  }
}
