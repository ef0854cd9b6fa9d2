// StoreRecord: the records of the store's file, and migration from earlier versions.
import Foundation

/// A record of the store's file. The last record of an identity wins; the first record of a file is its header.
enum StoreRecord: Codable {
  case header(version: Int)
  case conversation(Conversation)
  case message(ChatMessage)
  case removal(UUID)  // of a conversation and its messages
}

/// Reads records of any version up to the current one.
struct StoreReader {
  /// 1: a conversation was a list. 2: a tree; messages name their parent, conversations the visible path.
  static let version = 2

  private(set) var fileVersion: Int?
  private var lastMessages: [UUID: UUID] = [:]  // version 1 only, by conversation
  private let decoder = JSONDecoder.store

  /// Decodes a payload and converts it to the current version; nil for the header.
  mutating func read(_ payload: Data, from file: URL) throws -> StoreRecord? {
    let version = fileVersion ?? Self.version
    do {
      if fileVersion != nil && version == 1 { return try readVersion1(payload) }
      let record = try decoder.decode(StoreRecord.self, from: payload)
      guard case .header(let version) = record else { return record }
      if version > Self.version {
        throw StoreError("\(file.path) was written by a newer version of the program (format \(version))")
      }
      fileVersion = version
      return nil
    } catch let error as DecodingError {
      throw StoreError("\(file.path) has a record that this program does not understand: \(String(describing: error))")
    }
  }

  /// Version 1 had neither `parentID` nor `leafID`: each message follows the previous one.
  private mutating func readVersion1(_ payload: Data) throws -> StoreRecord? {
    var record = try decoder.decode(StoreRecord.self, from: payload)
    if case .message(var message) = record {
      message.parentID = lastMessages[message.conversationID]
      lastMessages[message.conversationID] = message.id
      record = .message(message)
    }
    return record
  }

  /// The last message of each version 1 conversation, which becomes the end of the visible path.
  var migratedLeaves: [UUID: UUID] { lastMessages }
}

extension JSONDecoder {
  static var store: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .millisecondsSince1970
    return decoder
  }
}

extension JSONEncoder {
  static var store: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .millisecondsSince1970
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}
