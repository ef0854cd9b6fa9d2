// MarkdownCache: the blocks of the messages of a conversation, parsed once.
import Foundation

/// The blocks of messages: of finished ones as they were when last asked for, of the one in progress as it comes.
@MainActor
final class MarkdownCache {
  private var finished: [UUID: (length: Int, blocks: [MarkdownBlock])] = [:]
  private var streamID: UUID?
  private var stream = MarkdownStream()

  /// Characters looked at for answers in progress.
  var examinedCharacters: Int { stream.examinedCharacters }

  /// An answer begins.
  func begin(_ id: UUID) {
    streamID = id
    stream = MarkdownStream()
  }

  func append(_ piece: String) { stream.append(piece) }

  func blocks(of message: ChatMessage) -> [MarkdownBlock] {
    let length = message.text.utf8.count
    if message.id == streamID, stream.text.utf8.count == length {
      return stream.closedBlocks + stream.readOpenBlocks()
    }
    if let known = finished[message.id], known.length == length { return known.blocks }
    let blocks = MarkdownBlock.split(message.text)
    finished[message.id] = (length, blocks)
    return blocks
  }
}
