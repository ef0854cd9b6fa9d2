// Searches conversations: every word must occur in the title or in one message, ignoring case and accents.
import Foundation

/// A conversation that matches a search.
public struct SearchHit: Hashable, Sendable, Identifiable {
  /// The conversation.
  public var conversation: Conversation
  /// The newest message that contains the words; nil if the title does.
  public var messageID: UUID?
  /// The text around the first match, on one line.
  public var excerpt: String

  /// The conversation's identity.
  public var id: UUID { conversation.id }
}

extension ConversationStore {
  /// Conversations that contain all words of `query`, newest first; all of them if it is empty.
  public func search(_ query: String) -> [SearchHit] {
    let words = query.split(whereSeparator: \.isWhitespace).map { String($0).folded }
    let ordered = conversations
    if words.isEmpty { return ordered.map { SearchHit(conversation: $0, excerpt: "") } }
    let trees = withState { $0.trees }
    return ordered.compactMap { conversation in
      if conversation.title.folded.hasAll(words) {
        return SearchHit(conversation: conversation, excerpt: conversation.title)
      }
      let found = trees[conversation.id]?.all.last { $0.text.folded.hasAll(words) }
      return found.map {
        SearchHit(conversation: conversation, messageID: $0.id, excerpt: $0.text.excerpt(around: words[0]))
      }
    }
  }
}

extension String {
  fileprivate var folded: String { folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil) }

  fileprivate func hasAll(_ words: [String]) -> Bool { words.allSatisfy { contains($0) } }

  /// Some forty characters before and after the first occurrence of `word`.
  fileprivate func excerpt(around word: String) -> String {
    let match = range(of: word, options: [.caseInsensitive, .diacriticInsensitive]) ?? startIndex..<startIndex
    let from = index(match.lowerBound, offsetBy: -40, limitedBy: startIndex) ?? startIndex
    let to = index(match.upperBound, offsetBy: 40, limitedBy: endIndex) ?? endIndex
    let line = self[from..<to].split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return (from > startIndex ? "… " : "") + line + (to < endIndex ? " …" : "")
  }
}
