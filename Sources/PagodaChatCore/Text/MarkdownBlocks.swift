// MarkdownBlocks: the blocks of a message as a view shows them; reading those of a growing answer copies no settled
// ones.

/// The blocks of a message. Settled blocks are shared by all readings of a growing answer, so that a reading costs time
/// proportional to the part that may still change. Long blocks are split into segments: see ``isContinuation(at:)``.
public struct MarkdownBlocks: RandomAccessCollection {
  /// Only appended to: a reading sees the blocks that existed when it was created.
  final class Storage {
    private(set) var blocks: [MarkdownBlock] = []

    func append(_ more: some Collection<MarkdownBlock>) { blocks.append(contentsOf: more) }
  }

  let storage: Storage
  /// Number of blocks, from the first, that are settled.
  public let settledCount: Int
  private let open: [MarkdownBlock]
  private let isFollowed: Bool  // followed by blocks that are left out

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

  /// The blocks without the unsettled part: unchanged from token to token, until a block is finished.
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
