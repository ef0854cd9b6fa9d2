// ListPage: a part of a list, as the list routes of OpenAI and Anthropic give it.
import PagodaKit

struct ListPage {
  private(set) var items: [JSONValue]
  private(set) var hasMore = false

  /// - Parameters:
  ///   - items: all items, each with an `id`, in the order in which clients get them.
  ///   - query: `limit`, and `after` or `before`, in the spelling of either API.
  init(_ items: [JSONValue], _ request: HTTPRequest, limit: Int, most: Int) throws {
    self.items = items
    let count = try Self.limit(request, default: limit, most: most)
    if let id = request.parameter("after") ?? request.parameter("after_id") {
      self.items = Array(items[(try Self.position(of: id, items, "after") + 1)...])
    }
    if let id = request.parameter("before_id") {
      let before = items[..<(try Self.position(of: id, items, "before_id"))]
      hasMore = before.count > count
      self.items = before.suffix(count)
      return
    }
    hasMore = self.items.count > count
    self.items = Array(self.items.prefix(count))
  }

  /// `order`: the newest first, unless it says `asc`.
  static func isAscending(_ request: HTTPRequest) throws -> Bool {
    switch request.parameter("order") {
    case nil, "desc": return false
    case "asc": return true
    case let order?:
      throw APIError.invalid("order is '\(order.prefix(20))'; it must be asc or desc", param: "order")
    }
  }

  private static func limit(_ request: HTTPRequest, default count: Int, most: Int) throws -> Int {
    guard let text = request.parameter("limit") else { return count }
    guard let number = Int(text), (1...most).contains(number) else {
      throw APIError.invalid(
        "limit is '\(text.prefix(20))'; it must be a whole number from 1 to \(most)", param: "limit")
    }
    return number
  }

  private static func position(of id: String, _ items: [JSONValue], _ field: String) throws -> Int {
    guard let index = items.firstIndex(where: { $0["id"]?.stringValue == id }) else {
      throw APIError.invalid("\(field) is '\(id.prefix(100))', which is not in the list", param: field)
    }
    return index
  }

  /// In OpenAI's shape.
  var openAI: JSONValue { .object([.init(key: "object", value: .string("list"))] + members) }

  /// In Anthropic's shape.
  var anthropic: JSONValue { .object(members) }

  private var members: [JSONValue.Member] {
    [
      .init(key: "data", value: .array(items)), .init(key: "first_id", value: items.first?["id"] ?? .null),
      .init(key: "last_id", value: items.last?["id"] ?? .null), .init(key: "has_more", value: .bool(hasMore)),
    ]
  }
}
