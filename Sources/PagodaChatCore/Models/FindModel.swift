// FindModel: searches the visible messages of one conversation.
import Foundation
import Observation

/// Find in chat: the matches of a text in the visible messages, and the current one.
@MainActor @Observable
public final class FindModel {
  /// A match.
  public struct Match: Hashable, Sendable {
    /// The message.
    public var messageID: UUID
    /// Which occurrence in the message, from 0.
    public var occurrence: Int
  }

  /// The text to find; case and accents do not matter.
  public var query = "" {
    didSet { if query != oldValue { position = 0 } }
  }
  /// Whether the search field is shown.
  public var isShown = false
  private var position = 0

  /// Finds nothing yet.
  public init() {}

  /// All matches, from the first message to the last.
  public func matches(in messages: [ChatMessage]) -> [Match] {
    let wanted = query.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !wanted.isEmpty else { return [] }
    return messages.flatMap { message in
      (0..<Self.count(wanted, in: message.text)).map { Match(messageID: message.id, occurrence: $0) }
    }
  }

  /// The current match; nil if there is none.
  public func current(in messages: [ChatMessage]) -> Match? {
    let all = matches(in: messages)
    return all.isEmpty ? nil : all[min(position, all.count - 1)]
  }

  /// "2 of 5", or that there is none; nil without a text to find.
  public func status(in messages: [ChatMessage]) -> String? {
    guard !query.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty else { return nil }
    let all = matches(in: messages)
    return all.isEmpty ? localized("Not found") : localized("\(min(position, all.count - 1) + 1) of \(all.count)")
  }

  /// Goes `steps` matches on, or back; after the last comes the first.
  public func advance(_ steps: Int = 1, in messages: [ChatMessage]) {
    let count = matches(in: messages).count
    guard count > 0 else { return }
    position = ((min(position, count - 1) + steps) % count + count) % count
  }

  /// Ends the search.
  public func close() {
    isShown = false
    query = ""
  }

  private static func count(_ wanted: String, in text: String) -> Int {
    var count = 0
    var rest = text.startIndex..<text.endIndex
    while let found = text.range(of: wanted, options: [.caseInsensitive, .diacriticInsensitive], range: rest) {
      count += 1
      rest = found.upperBound..<text.endIndex
    }
    return count
  }
}
