// MarkdownBlocks: the blocks of a message as a view shows them; reading those of a growing answer copies none that are settled.

/// The blocks of a message. Those that can change no more are shared by all readings of an answer that grows, so that a reading
/// costs as much as what may still change. Long blocks of such an answer come in segments: see ``isContinuation(at:)``.
public struct MarkdownBlocks: RandomAccessCollection {
  /// Only ever appended to: a reading sees the blocks that were there when it was made.
  final class Storage {
    private(set) var blocks: [MarkdownBlock] = []

    func append(_ more: some Collection<MarkdownBlock>) { blocks.append(contentsOf: more) }
  }

  let storage: Storage
  /// Number of blocks, from the first, that can change no more.
  public let settledCount: Int
  private let open: [MarkdownBlock]
  private let isFollowed: Bool  // by blocks that are left out

  init(_ storage: Storage, open: [MarkdownBlock]) {
    self.init(storage, storage.blocks.count, open, isFollowed: false)
  }

  private init(_ storage: Storage, _ count: Int, _ open: [MarkdownBlock], isFollowed: Bool) {
    self.storage = storage
    settledCount = count
    self.open = open
    self.isFollowed = isFollowed
  }

  /// The blocks of a whole text.
  public init(_ text: String) {
    let storage = Storage()
    storage.append(MarkdownBlock.split(text))
    self.init(storage, open: [])
  }

  /// Without what may still change: the same from one token to the next, until a block is finished.
  public var settled: MarkdownBlocks { MarkdownBlocks(storage, settledCount, [], isFollowed: !open.isEmpty) }

  /// The first index.
  public var startIndex: Int { 0 }
  /// The number of blocks.
  public var endIndex: Int { settledCount + open.count }

  /// A block.
  public subscript(index: Int) -> MarkdownBlock {
    index < settledCount ? storage.blocks[index] : open[index - settledCount]
  }

  /// Whether a block continues the one before it: a long list, table or code block that is still growing.
  public func isContinuation(at index: Int) -> Bool {
    guard index > 0 else { return false }
    switch (self[index - 1], self[index]) {
    case (.code(_, _, let isClosed), .code): return !isClosed
    case (.list, .list): return true
    case (.table, .table(let header, _)): return header.isEmpty
    default: return false
    }
  }

  /// Whether a code block continues in the next block.
  public func isContinued(at index: Int) -> Bool {
    guard case .code(_, _, isClosed: false) = self[index] else { return false }
    return index + 1 < endIndex || isFollowed
  }
}
