// The routes of batches: OpenAI's /v1/batches over uploaded files, and Anthropic's /v1/messages/batches.
import Foundation
import PagodaKit

extension ModelHost {
  static let batchRoutes: [String: [String: Service.Work]] = [
    "/v1/batches": [
      "GET": .server { .json(try $0.batchList($1).openAI) }, "POST": .host(.openAI) { try $0.createBatch($1) },
    ],
    "/v1/messages/batches": [
      "GET": .server { .json(try $0.batchList($1, isAnthropic: true).anthropic) },
      "POST": .host(.anthropic) { try $0.createMessageBatch($1) },
    ],
  ]

  static let batchEndpoints = ["/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses"]
  private static let maximumLines = 50_000

  /// The routes of one batch.
  func batchRoute(_ path: String) -> [String: Service.Work]? {
    if let (id, rest) = Self.parts(of: path, after: "/v1/messages/batches/") {
      switch rest {
      case []:
        return [
          "GET": .server { .json(try $0.batch(id, $1, isAnthropic: true)) },
          "DELETE": .server { .json(try $0.deleteBatch(id, $1)) },
        ]
      case ["results"]: return ["GET": .server { try $0.batchResults(id, $1) }]
      case ["cancel"]: return ["POST": .server { .json(try $0.cancelBatch(id, $1, isAnthropic: true)) }]
      default: return nil
      }
    }
    guard let (id, rest) = Self.parts(of: path, after: "/v1/batches/") else { return nil }
    switch rest {
    case []: return ["GET": .server { .json(try $0.batch(id, $1, isAnthropic: false)) }]
    case ["cancel"]: return ["POST": .server { .json(try $0.cancelBatch(id, $1, isAnthropic: false)) }]
    default: return nil
    }
  }

  private func createBatch(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .batches)
    guard let id = try fields.string("input_file_id", maximumBytes: 256) else { throw fields.missing("input_file_id") }
    guard let endpoint = try fields.choice("endpoint", of: Self.batchEndpoints) else {
      throw fields.missing("endpoint")
    }
    guard try fields.choice("completion_window", of: ["24h"]) != nil else { throw fields.missing("completion_window") }
    let metadata = try fields.object("metadata")?.members
    let file = try file(id, exchange.request)
    let batch = Batch(
      .openAI(endpoint: endpoint, inputFile: id), input: file.bytes, owner: file.owner,
      headers: Self.credentials(exchange.request), metadata: metadata.map { .object($0) } ?? .null)
    if batch.lineCount == 0 {
      throw APIError.invalid("the file has no lines", param: "input_file_id", code: "empty_file")
    }
    if batch.lineCount > Self.maximumLines {
      throw APIError.invalid("the file has more than \(Self.maximumLines) lines", param: "input_file_id")
    }
    try start(batch, exchange, fields.unknown)
  }

  private func createMessageBatch(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .messageBatches)
    guard let list = try fields.objects("requests", maximum: Self.maximumLines), !list.isEmpty else {
      throw fields.missing("requests")
    }
    var ids: Set<String> = []
    var input: [UInt8] = []
    for item in list {
      guard let id = try item.string("custom_id", maximumBytes: 64), !id.isEmpty else {
        throw item.missing("custom_id")
      }
      guard id.utf8.allSatisfy({ $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") || Self.isAlphanumeric($0) }) else {
        throw APIError.invalid(
          "\(item.path)custom_id may have letters, digits, - and _", param: item.path + "custom_id")
      }
      if !ids.insert(id).inserted {
        throw APIError.invalid("\(item.path)custom_id occurs more than once", param: item.path + "custom_id")
      }
      guard let params = try item.object("params") else { throw item.missing("params") }
      let line = JSONValue.object(["custom_id": .string(id), "params": .object(params.members)])
      input += Array((line.text + "\n").utf8)
    }
    let owner = guarding.owner(of: exchange.request)
    let batch = Batch(
      .anthropic, input: input, owner: owner, headers: Self.credentials(exchange.request), metadata: .null)
    let file = try files.add(input, name: batch.id, purpose: "batch", owner: owner, isHidden: true)
    batch.inputFile = file.id
    do {
      try start(batch, exchange, fields.unknown)
    } catch {
      files.remove(file.id)
      throw error
    }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    byte < 0x80 && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber)
  }

  private func start(_ batch: Batch, _ exchange: Exchange, _ unknown: [String]) throws {
    try batches.add(batch)
    let json = batches.read(batch.id, owner: batch.owner, \.json) ?? .null
    exchange.reply(.whole(.json(json, headers: NoticeFields(names: unknown).headers)))
  }

  /// Lines run with the rights, limits and caches of the key that sent the batch.
  private static func credentials(_ request: HTTPRequest) -> [HTTPHeader] {
    request.headers.filter { ["authorization", "x-api-key", "anthropic-version"].contains($0.name) }
  }

  private func batchList(_ request: HTTPRequest, isAnthropic: Bool = false) throws -> ListPage {
    let all = batches.list(owner: guarding.owner(of: request)) { ($0.kind == .anthropic, $0.json) }
    let items = all.filter { $0.0 == isAnthropic }.map(\.1)
    return try ListPage(items.reversed(), request, limit: 20, most: isAnthropic ? 1000 : 100)
  }

  private func found(_ id: String, _ request: HTTPRequest, isAnthropic: Bool) throws -> Batch {
    guard let batch = batches.find(id, owner: guarding.owner(of: request)), (batch.kind == .anthropic) == isAnthropic
    else { throw Self.notFound("Batch", id, "batch_id") }
    return batch
  }

  private func batch(_ id: String, _ request: HTTPRequest, isAnthropic: Bool) throws -> JSONValue {
    let batch = try found(id, request, isAnthropic: isAnthropic)
    return batches.read(id, owner: batch.owner, \.json) ?? .null
  }

  private func cancelBatch(_ id: String, _ request: HTTPRequest, isAnthropic: Bool) throws -> JSONValue {
    let found = try found(id, request, isAnthropic: isAnthropic)
    if !isAnthropic, batches.read(id, owner: found.owner, { $0.endTime != nil }) == true {
      throw APIError.invalid("the batch has ended already, so it cannot be cancelled", param: "batch_id", status: 409)
    }
    batches.end(found, .cancelled)
    return try batch(id, request, isAnthropic: isAnthropic)
  }

  private func deleteBatch(_ id: String, _ request: HTTPRequest) throws -> JSONValue {
    let found = try found(id, request, isAnthropic: true)
    guard batches.remove(id, owner: found.owner) != nil else {
      throw APIError.invalid("the batch has not ended; cancel it first", param: "batch_id")
    }
    return .object(["id": .string(id), "type": .string("message_batch_deleted")])
  }

  private func batchResults(_ id: String, _ request: HTTPRequest) throws -> HTTPResponse {
    let found = try found(id, request, isAnthropic: true)
    guard let (file, endTime) = batches.read(id, owner: found.owner, { ($0.outputFile, $0.endTime) }), endTime != nil
    else { throw APIError.invalid("the batch has not ended, so it has no results yet", param: "batch_id") }
    return HTTPResponse(type: "application/x-jsonl", body: file.flatMap(files.content) ?? [])
  }
}
