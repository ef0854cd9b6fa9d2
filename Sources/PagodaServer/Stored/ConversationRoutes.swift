// The routes of /v1/conversations: OpenAI's stored conversations and their items.
import Foundation
import PagodaKit

extension ModelHost {
  static let conversationRoutes: [String: [String: Service.Work]] = [
    "/v1/conversations": ["POST": .host(.openAI) { try $0.createConversation($1) }]
  ]

  func conversationRoute(_ path: String) -> [String: Service.Work]? {
    guard let (id, rest) = Self.parts(of: path, after: "/v1/conversations/") else { return nil }
    if rest.isEmpty {
      return [
        "GET": .server { .json(try $0.conversation(id, $1).json) },
        "POST": .host(.openAI) { try $0.updateConversation(id, $1) },
        "DELETE": .server { .json(try $0.deleteConversation(id, $1)) },
      ]
    }
    guard rest[0] == "items" else { return nil }
    if rest.count == 1 {
      return [
        "GET": .server { .json(try $0.conversationItems(id, $1)) },
        "POST": .host(.openAI) { try $0.addItems(id, $1) },
      ]
    }
    guard rest.count == 2, !rest[1].isEmpty else { return nil }
    return [
      "GET": .server { .json(try $0.item(rest[1], of: id, $1)) },
      "DELETE": .server { .json(try $0.deleteItem(rest[1], of: id, $1)) },
    ]
  }

  private func conversation(_ id: String, _ request: HTTPRequest) throws -> ConversationStore.Entry {
    guard let entry = conversations.find(id, owner: guarding.owner(of: request)) else {
      throw Self.notFound("Conversation", id, "conversation_id")
    }
    return entry
  }

  private func createConversation(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .conversations)
    let entry = try conversations.create(
      fields.conversationItems(), metadata: try fields.metadata() ?? .object([]),
      owner: guarding.owner(of: exchange.request))
    exchange.reply(.whole(.json(entry.json, headers: NoticeFields(names: fields.unknown).headers)))
  }

  private func updateConversation(_ id: String, _ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .conversations)
    guard let metadata = try fields.metadata() else { throw fields.missing("metadata") }
    let owner = try conversation(id, exchange.request).owner
    guard let entry = try conversations.change(id, owner: owner, { $0.metadata = metadata }) else {
      throw Self.notFound("Conversation", id, "conversation_id")
    }
    exchange.reply(.whole(.json(entry.json)))
  }

  private func deleteConversation(_ id: String, _ request: HTTPRequest) throws -> JSONValue {
    let owner = try conversation(id, request).owner
    let isDeleted = conversations.delete(id, owner: owner)
    return .object(["id": .string(id), "object": .string("conversation.deleted"), "deleted": .bool(isDeleted)])
  }

  private func conversationItems(_ id: String, _ request: HTTPRequest) throws -> JSONValue {
    let items = try conversation(id, request).items
    let ordered = try ListPage.isAscending(request) ? items : items.reversed()
    return try ListPage(ordered, request, limit: 20, most: 100).openAI
  }

  private func addItems(_ id: String, _ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .conversations)
    let items = try fields.conversationItems()
    if items.isEmpty { throw fields.missing("items") }
    let owner = try conversation(id, exchange.request).owner
    guard try conversations.add(items, to: id, owner: owner) != nil else {
      throw Self.notFound("Conversation", id, "conversation_id")
    }
    exchange.reply(
      .whole(
        .json(
          .object([
            "object": .string("list"), "data": .array(items), "first_id": items.first?["id"] ?? .null,
            "last_id": items.last?["id"] ?? .null, "has_more": .bool(false),
          ]))))
  }

  private func item(_ item: String, of id: String, _ request: HTTPRequest) throws -> JSONValue {
    let items = try conversation(id, request).items
    guard let found = items.first(where: { $0["id"]?.stringValue == item }) else {
      throw Self.notFound("Item", item, "item_id")
    }
    return found
  }

  private func deleteItem(_ item: String, of id: String, _ request: HTTPRequest) throws -> JSONValue {
    _ = try self.item(item, of: id, request)
    let owner = guarding.owner(of: request)
    let entry = try conversations.change(id, owner: owner) { entry in
      entry.items.removeAll { $0["id"]?.stringValue == item }
    }
    guard let entry else { throw Self.notFound("Conversation", id, "conversation_id") }
    return entry.json
  }
}

extension FieldReader {
  /// Items with ids. What they contain is checked when an answer needs them, because it depends on the model.
  fileprivate func conversationItems() throws -> [JSONValue] {
    let items = try objects("items", maximum: 1000) ?? []
    return try Self.withIDs(items).map { item in
      let type = try item.string("type", maximumBytes: 64)
      guard type == "message" else { return .object(item.members) }
      guard try item.choice("role", of: ["user", "assistant", "system", "developer"]) != nil else {
        throw item.missing("role")
      }
      guard let content = item["content"] else { throw item.missing("content") }
      if content.stringValue == nil {
        for part in try item.objects("content", maximum: 10_000) ?? [] where try part.string("type") == nil {
          throw part.missing("type")
        }
      }
      return .object(item.members)
    }
  }

  fileprivate func metadata() throws -> JSONValue? {
    guard let reader = try object("metadata") else { return nil }
    guard reader.members.count <= 16, reader.members.allSatisfy({ $0.value.stringValue?.utf8.count ?? .max <= 2048 })
    else {
      throw APIError.invalid("metadata may have 16 strings of at most 2048 bytes", param: "metadata")
    }
    return .object(reader.members)
  }
}
