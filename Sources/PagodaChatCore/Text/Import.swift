// Imports conversations that were exported as JSON: one, or all of them.
import Foundation

/// Reads exported conversations.
public enum ConversationImport {
  /// Conversations with new identities, so that importing a file twice makes copies and replaces nothing.
  public static func read(_ data: Data) throws -> [RemovedConversation] {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let documents: [ConversationExport.Document]
    do {
      documents =
        try (try? decoder.decode([ConversationExport.Document].self, from: data))
        ?? [decoder.decode(ConversationExport.Document.self, from: data)]
    } catch {
      throw StoreError("The file is no export of chats of this program")
    }
    return try documents.map { document in
      guard document.format == ConversationExport.Document.formatName else {
        throw StoreError("The file is no export of chats of this program")
      }
      if document.version > StoreReader.version {
        throw StoreError("The file was written by a newer version of the program (format \(document.version))")
      }
      return renamed(document)
    }
  }

  private static func renamed(_ document: ConversationExport.Document) -> RemovedConversation {
    var conversation = document.conversation
    conversation.id = UUID()
    var ids: [UUID: UUID] = [:]
    for message in document.messages { ids[message.id] = UUID() }
    conversation.leafID = conversation.leafID.flatMap { ids[$0] }
    let messages = document.messages.map { message in
      var copy = message
      copy.id = ids[message.id] ?? UUID()
      copy.parentID = message.parentID.flatMap { ids[$0] }
      copy.conversationID = conversation.id
      if copy.state == .streaming { copy.state = .stopped }
      return copy
    }
    return RemovedConversation(conversation: conversation, messages: messages)
  }
}

extension AppModel {
  /// Adds the conversations of an exported file and shows the first. Returns how many there were.
  @discardableResult
  public func importChats(_ data: Data) -> Int {
    do {
      let found = try ConversationImport.read(data)
      for one in found { try conversations.pool.store.save(one.conversation, one.messages) }
      if let first = found.first { conversations.show(first.conversation) }
      return found.count
    } catch {
      conversations.failure = ChatFailure("The chats cannot be imported", error)
      return 0
    }
  }

  /// All conversations as one file.
  public func exportAllChats() throws -> String {
    let store = conversations.pool.store
    let documents = store.conversations.map {
      ConversationExport.Document(conversation: $0, messages: store.messages(of: $0.id).all)
    }
    return try ConversationExport.encoded(documents)
  }
}
