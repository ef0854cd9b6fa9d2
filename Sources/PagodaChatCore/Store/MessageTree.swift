// MessageTree: the messages of one conversation with all its branches.
import Foundation

/// The messages of one conversation. Messages with the same parent are alternatives, in creation order.
public struct MessageTree: Hashable, Sendable {
  private var messages: [UUID: ChatMessage] = [:]
  private var order: [UUID] = []  // of insertion, so that parents precede children
  private var children: [UUID?: [UUID]] = [:]

  /// No messages.
  public init() {}

  /// Number of messages on all paths.
  public var count: Int { order.count }

  /// All messages, parents before children.
  public var all: [ChatMessage] { order.compactMap { messages[$0] } }

  /// A message.
  public subscript(id: UUID) -> ChatMessage? { messages[id] }

  mutating func put(_ message: ChatMessage) {
    if messages.updateValue(message, forKey: message.id) == nil {
      order.append(message.id)
      children[message.parentID, default: []].append(message.id)
    }
  }

  /// The messages from the first to `leaf`. A path starts at a missing parent (a damaged record).
  public func path(to leaf: UUID?) -> [ChatMessage] {
    var path: [ChatMessage] = []
    var next = leaf
    var seen: Set<UUID> = []
    while let id = next, let message = messages[id], seen.insert(id).inserted {
      path.append(message)
      next = message.parentID
    }
    return path.reversed()
  }

  /// The alternatives to a message, including itself.
  public func siblings(of id: UUID) -> [UUID] {
    guard let message = messages[id] else { return [] }
    return children[message.parentID] ?? []
  }

  /// The end of the newest path through a message.
  public func newestLeaf(from id: UUID) -> UUID {
    var leaf = id
    while let next = children[leaf]?.last { leaf = next }
    return leaf
  }
}
